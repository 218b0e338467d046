// What is checked of indices before anything is read or written by them.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// Calls refuse(k, i) for the first index outside [low, high): k, which is the i-th. Where a device
// holds the indices, its kernel checks them.
template <class F>
void check_indices(const Tensor& index, std::int64_t low, std::int64_t high, const F& refuse) {
  if (!index.device().is_cpu()) return;
  const Tensor dense = contiguous(to(index, DType::int64));
  const View v = view_of(dense);
  for (std::int64_t i = 0; i < v.numel; ++i)
    if (const std::int64_t k = v.as<const std::int64_t>()[i]; k < low || k >= high) refuse(k, i);
}

// A vector index along `dim` of input with a source of one slice for each; returns the dimension.
inline int check_index_source(const char* op, const Tensor& input, std::int64_t dim,
                              const Tensor& index, const Tensor& source) {
  const int at = wrap_dim(dim, input.dim());
  check_same_device(op, input, "self", index, "index");
  check_same_device(op, input, "self", source, "source");
  if (index.dim() > 1)
    fail<IndexError>(op, "(): Index is supposed to be a vector, but got dim: ", index.dim());
  if (index.dtype() != DType::int64 && index.dtype() != DType::int32)
    fail<RuntimeError>(
        op, "(): Expected dtype int32/int64 for index but got: ", scalar_name(index.dtype()));
  if (source.dtype() != input.dtype())
    fail<RuntimeError>(op, "(): self (", scalar_name(input.dtype()), ") and source (",
                       scalar_name(source.dtype()), ") must have the same scalar type");
  if (!input.dim() && source.dim())
    fail<RuntimeError>(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
        "self.shape = ",
        input.sizes(), " source.shape = ", source.sizes());
  Shape expected = input.shape();
  if (input.dim()) expected[at] = index.numel();
  if (!same(source.sizes(), expected) && (input.dim() || source.numel() != index.numel()))
    fail<RuntimeError>(
        op, "(): Number of indices (", index.numel(), ") should be equal to source.size(dim): (",
        source.dim() ? source.size(std::min(at, source.dim() - 1)) : 1, "), for dim: ", dim, "\n",
        describe("self", input), ", ", describe("source", source));
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  check_indices(index, 0, n, [&](std::int64_t k, std::int64_t) {
    fail<IndexError>("index out of range in self: index ", k, " for dimension ", at, " with size ",
                     n);
  });
  return at;
}

}  // namespace rushlight
