// Matrices with given diagonals, and what is read from a diagonal.
#include "ops/triangular.h"

namespace rushlight {

Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const int rank = input.dim() + 1;
  const int a = wrap_dim(dim1, rank), b = wrap_dim(dim2, rank);
  if (a == b) fail<RuntimeError>("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  if (input.dim() == 0) fail<RuntimeError>("diag_embed: input must have at least 1 dimension");
  const std::int64_t size =
      checked_add(input.size(-1), offset < 0 ? checked_mul(offset, -1) : offset);
  Shape whole;
  for (int d = 0, from = 0; d < rank; ++d)
    whole.push_back(d == a || d == b ? size : input->shape[from++]);
  return named(diagonal_backward(input, whole, offset, a, b), "DiagEmbedBackward0");
}

Tensor diag(const Tensor& input, std::int64_t offset) {
  if (input.dim() == 1) return diag_embed(input, offset, 0, 1);
  if (input.dim() != 2)
    fail<RuntimeError>("diag(): Supports 1D or 2D tensors. Got ", input.dim(), "D");
  return clone(diagonal(input, offset, 0, 1));
}

Tensor diagflat(const Tensor& input, std::int64_t offset) {
  return diag_embed(reshape(input, {-1}), offset, 0, 1);
}

Tensor trace(const Tensor& input) {
  if (input.dim() != 2)
    fail<RuntimeError>("trace: expected a matrix, but got tensor with dim ", input.dim());
  Tensor out;
  {
    const GradMode off(false);
    out = sum(diagonal(input, 0, 0, 1), {}, false);
  }
  return record(
      "TraceBackward0", std::move(out),
      [whole = input.shape()](Tensor g) {
        const std::int64_t n = std::min(whole[0], whole[1]);
        return Gradients(diagonal_backward(expand(g, {n}), whole, 0, 0, 1));
      },
      input);
}

}  // namespace rushlight
