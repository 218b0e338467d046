// Triangles, diagonals and turns, written from views and copies.
#include "ops/arrange.h"

#include <algorithm>

#include "core/backend.h"
#include "kernels/index.h"
#include "ops/pointwise.h"

namespace rushlight {
namespace {

// Whether column - row <= diagonal, for the last two dimensions.
Tensor lower_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, Device device) {
  Tensor host = empty({rows, columns}, DType::boolean);
  const View v = view_of(host);
  auto* p = v.as<bool>();
  if (columns == 0) return to(host, device);  // of any number of rows
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t last = i + diagonal;
    const auto ones = last < 0 ? 0 : last < columns ? last + 1 : columns;
    std::fill_n(p + i * columns, ones, true);
    std::fill_n(p + i * columns + ones, columns - ones, false);
  }
  return to(host, device);
}

Tensor triangle(const char* name, const Tensor& input, std::int64_t diagonal, bool lower) {
  if (input.dim() < 2)
    fail<RuntimeError>(lower ? "tril" : "triu", ": input tensor must have at least 2 dimensions");
  diagonal = std::clamp(diagonal, -input.size(-2), input.size(-1));  // those beyond are like these
  Tensor out;
  {
    const GradMode off(false);
    const Tensor mask =
        lower_mask(input.size(-2), input.size(-1), lower ? diagonal : diagonal - 1, input.device());
    const Tensor zero = zeros(Shape(), input.dtype(), input.device());
    out = lower ? where(mask, as_input(input), as_input(zero))
                : where(mask, as_input(zero), as_input(input));
  }
  return record(
      name, std::move(out),
      [diagonal, lower](Tensor g) {
        return Gradients(lower ? tril(g, diagonal) : triu(g, diagonal));
      },
      input);
}

}  // namespace

Tensor tril(const Tensor& input, std::int64_t diagonal) {
  return triangle("TrilBackward0", input, diagonal, true);
}
Tensor triu(const Tensor& input, std::int64_t diagonal) {
  return triangle("TriuBackward0", input, diagonal, false);
}

Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const int rank = input.dim() + 1;
  const int a = wrap_dim(dim1, rank), b = wrap_dim(dim2, rank);
  if (a == b) fail<RuntimeError>("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  if (input.dim() == 0) fail<RuntimeError>("diag_embed: input must have at least 1 dimension");
  const std::int64_t size = checked_add(input.size(-1), offset < 0 ? -offset : offset);
  Shape whole;
  for (int d = 0, from = 0; d < rank; ++d)
    whole.push_back(d == a || d == b ? size : input->shape[from++]);
  return diagonal_backward(input, whole, offset, a, b);
}

Tensor diag(const Tensor& input, std::int64_t offset) {
  if (input.dim() == 1) return diag_embed(input, offset, 0, 1);
  if (input.dim() != 2)
    fail<RuntimeError>("diag(): Supports 1D or 2D tensors. Got ", input.dim(), "D");
  return clone(diagonal(input, offset, 0, 1));
}

Tensor rot90(const Tensor& input, std::int64_t k, Sizes dims) {
  if (dims.size() != 2)
    fail<RuntimeError>("expected total rotation dims == 2, but got dims = ", dims.size());
  if (input.dim() < 2)
    fail<RuntimeError>("expected total dims >= 2, but got total dims = ", input.dim());
  const int a = wrap_dim(dims[0], input.dim()), b = wrap_dim(dims[1], input.dim());
  if (a == b)
    fail<RuntimeError>("expected rotation dims to be different, but got dim0 = ", dims[0],
                       " and dim1 = ", dims[1]);
  const std::int64_t first = a, second = b;
  switch (((k % 4) + 4) % 4) {
    case 1: return transpose(flip(input, {&second, 1}), a, b);
    case 2: {
      const std::int64_t both[] = {first, second};
      return flip(input, both);
    }
    case 3: return transpose(flip(input, {&first, 1}), a, b);
    default: return clone(input);
  }
}

std::vector<Tensor> tensor_split(const Tensor& input, const std::vector<std::int64_t>& at,
                                 std::int64_t dim) {
  if (input.dim() == 0)
    fail<RuntimeError>(
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int d = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t end : at) {
    parts.push_back(slice(input, d, start, end, 1));
    start = end;
  }
  parts.push_back(slice(input, d, start, {}, 1));
  return parts;
}

bool equal(const Tensor& input, const Tensor& other) {
  check_same_device("equal", input, "input", other, "other");
  if (!same(input.sizes(), other.sizes())) return false;
  if (input.numel() == 0) return true;
  const GradMode off(false);
  const Tensor differs = apply<Ne>(input, other);
  return backend(input.device()).index->count_nonzero(view_of(differs)) == 0;
}

}  // namespace rushlight
