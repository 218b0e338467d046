// Grids, block matrices and differences, as compositions: their gradients are those of the parts.
#include "ops/grid.h"

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
  std::vector<Tensor> rows;
  std::int64_t width = 0, start = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Tensor& t = blocks[i];
    if (t.dim() > 2)
      fail<RuntimeError>("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ",
                         i, " has ", t.dim(), " dimensions");
    rows.push_back(t.dim() < 2 ? reshape(t, {1, t.numel()}) : t);
    width = checked_add(width, rows.back().size(1));
  }
  for (Tensor& row : rows) {
    const std::int64_t own = row.size(1);
    row = constant_pad_nd(row, {start, width - start - own}, 0);
    start += own;
  }
  return cat(rows, 0);
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

Tensor kron(const Tensor& input, const Tensor& other) {
  const int rank = std::max(input.dim(), other.dim());
  const auto size = [&](const Tensor& t, int d) {
    const int own = d - (rank - t.dim());
    return own < 0 ? 1 : t.size(own);
  };
  Shape left, right, sizes;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t a = size(input, d), b = size(other, d);
    for (const std::int64_t n : {a, std::int64_t(1)}) left.push_back(n);
    for (const std::int64_t n : {std::int64_t(1), b}) right.push_back(n);
    sizes.push_back(checked_mul(a, b));
  }
  return reshape(mul(reshape(input, left), reshape(other, right)), sizes);
}

Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  if (input.dim() == 0) fail<RuntimeError>("diff expects input to be at least one-dimensional");
  if (n < 0) fail<RuntimeError>("order must be non-negative but got ", n);
  if (n == 0) return clone(input);
  std::vector<Tensor> parts;
  for (const Tensor& part : {prepend.value_or(Tensor()), input, append.value_or(Tensor())})
    if (part) parts.push_back(part);
  Tensor left = parts.size() > 1 ? cat(parts, dim) : input;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t size = left.size(wrap_dim(dim, left.dim()));
    if (size == 0) break;
    const Tensor later = narrow(left, dim, 1, size - 1), earlier = narrow(left, dim, 0, size - 1);
    left = left.dtype() == DType::boolean ? apply<BitwiseXor>(later, earlier) : sub(later, earlier);
  }
  return left;
}

}  // namespace rushlight
