// Grids, choices and block matrices, as compositions: their gradients are those of the parts. The
// indices of choices are counted out on the host, which needs none of the values.
#include "ops/grid.h"

#include "core/unlocked.h"
#include "ops/join.h"
#include "ops/pad.h"
#include "ops/value.h"

namespace rushlight {

std::vector<Tensor> meshgrid(std::vector<Tensor> vectors, bool xy) {
  if (vectors.empty()) fail<RuntimeError>("meshgrid expects a non-empty TensorList");
  const bool swapped = xy && vectors.size() >= 2;
  if (swapped) std::swap(vectors[0], vectors[1]);
  Shape shape;
  for (const Tensor& t : vectors) {
    if (t.dim() > 1)
      fail<RuntimeError>("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ",
                         t.sizes());
    if (t.dtype() != vectors[0].dtype())
      fail<RuntimeError>("meshgrid expects all tensors to have the same dtype\ngot ",
                         vectors[0].dtype(), " and ", t.dtype());
    if (t.device() != vectors[0].device())
      fail<RuntimeError>("meshgrid expects all tensors to have the same device\ngot ",
                         vectors[0].device(), " and ", t.device());
    shape.push_back(t.numel());
  }
  for (std::size_t d = 0; d < vectors.size(); ++d) {
    Shape own = shape;
    for (std::size_t other = 0; other < vectors.size(); ++other)
      if (other != d) own.sizes[other] = 1;
    vectors[d] = expand(reshape(vectors[d], own), shape);
  }
  if (swapped) std::swap(vectors[0], vectors[1]);
  return vectors;
}

Tensor cartesian_prod(const std::vector<Tensor>& vectors) {
  for (const Tensor& t : vectors)
    if (t.dim() != 1) fail<RuntimeError>("Expect a 1D vector, but got shape ", t.sizes());
  if (vectors.size() == 1) return vectors[0];
  std::vector<Tensor> columns = meshgrid(vectors, false);
  for (Tensor& column : columns) column = reshape(column, {-1});
  return stack(columns, 1);
}

Tensor block_diag(const std::vector<Tensor>& blocks) {
  if (blocks.empty()) return empty({1, 0}, default_dtype(), kCpu);
  std::vector<Input> inputs;
  for (const Tensor& t : blocks) inputs.push_back(as_input(t));
  const DType dtype = result_type(inputs);
  std::vector<Tensor> rows;
  std::int64_t width = 0, start = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Tensor& t = blocks[i];
    if (t.dim() > 2)
      fail<RuntimeError>("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ",
                         i, " has ", t.dim(), " dimensions");
    rows.push_back(to(t.dim() < 2 ? reshape(t, {1, t.numel()}) : t, dtype));
    width = checked_add(width, rows.back().size(1));
  }
  for (Tensor& row : rows) {
    const std::int64_t own = row.size(1);
    row = constant_pad_nd(row, {start, width - start - own}, 0);
    start += own;
  }
  return named(cat(rows, 0), "BlockDiagBackward0");
}

std::vector<Tensor> unravel_index(const Tensor& indices, const std::vector<std::int64_t>& shape) {
  if (!is_integral(indices.dtype()) || indices.dtype() == DType::boolean)
    fail<TypeError>("expected 'indices' to be integer dtype, but got ", indices.dtype());
  if (shape.empty()) return {};
  const Tensor flat = to(indices, DType::int64);
  std::vector<Tensor> columns(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    columns[d] = apply<Remainder>(apply<FloorDivide>(flat, Scalar(step)), Scalar(shape[d]));
    if (d) step = checked_mul(step, shape[d]);
  }
  return unbind(stack(columns, -1), -1);
}

namespace {

// How many ways there are to choose r of n; a number too large for memory where it overflows.
std::int64_t choices(std::int64_t n, std::int64_t r) {
  if (r > n) return 0;
  r = std::min(r, n - r);
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < r; ++i) {
    const __int128 next = __int128(count) * (n - i) / (i + 1);
    if (next > std::int64_t(1) << 60) return std::int64_t(1) << 60;
    count = std::int64_t(next);
  }
  return count;
}

// Rows of indices below n in lexical order; each is larger than the one before it, or at least as
// large with `repeats`.
void count_out(std::int64_t* rows, std::int64_t count, std::int64_t n, std::int64_t r,
               bool repeats) {
  const std::int64_t step = repeats ? 0 : 1;
  for (std::int64_t k = 0; k < r; ++k) rows[k] = k * step;
  for (std::int64_t i = 1; i < count; ++i) {
    const std::int64_t* before = rows + (i - 1) * r;
    std::int64_t* row = rows + i * r;
    std::int64_t at = r - 1;  // the last that can grow
    while (at > 0 && before[at] == n - 1 - (r - 1 - at) * step) --at;
    std::copy_n(before, at, row);
    for (std::int64_t k = at; k < r; ++k) row[k] = before[at] + 1 + (k - at) * step;
  }
}

}  // namespace

Tensor combinations(const Tensor& input, std::int64_t r, bool with_replacement) {
  if (input.dim() != 1) fail<RuntimeError>("Expect a 1D vector, but got shape ", input.sizes());
  if (r < 0) fail<RuntimeError>("Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, input.dtype(), input.device());
  const std::int64_t n = input.numel();
  const std::int64_t count = !n ? 0 : choices(with_replacement ? checked_add(n, r - 1) : n, r);
  const Tensor rows = empty({count, r}, DType::int64);
  if (count) {
    const View v = view_of(rows);
    const Unlocked unlocked(double(v.numel), {&rows});
    count_out(v.as<std::int64_t>(), count, n, r, with_replacement);
  }
  return index(input, {to(rows, input.device())});
}

}  // namespace rushlight
