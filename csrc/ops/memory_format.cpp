// See memory_format.h. The rule, with its ambiguous cases, is the one torch documents for
// suggest_memory_format.
#include "ops/memory_format.h"

#include "ops/ops.h"

namespace rushlight {

bool is_channels_last(const Tensor& t) {
  const int rank = t.dim();
  if (t.is_contiguous() && (rank < 4 || t->shape[1] == 1 || t.stride(1) != 1)) [[likely]]
    return false;
  if (rank != 4 && rank != 5) return false;
  std::int64_t least = 0;
  if (t->strides[1] == 0) return false;
  for (int i = 0; i < rank; ++i) {
    const int d = i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
    const std::int64_t size = t->shape[d], stride = t->strides[std::size_t(d)];
    if (size == 0 || stride < least) return false;
    if (d == 0 && least == t->strides[1]) return false;
    least = size > 1 ? stride * size : stride;
  }
  return true;
}

Tensor in_format_of(const Tensor& like, Tensor out) {
  if (out.dim() != like.dim() || !is_channels_last(like)) [[likely]]
    return out;
  const GradMode off(false);
  Strides strides;
  std::int64_t next = 1;
  for (int i = 0; i < out.dim(); ++i) {
    const int d = i == 0 ? 1 : i == out.dim() - 1 ? 0 : out.dim() - i;
    strides[std::size_t(d)] = next;
    next = checked_mul(next, std::max<std::int64_t>(out->shape[d], 1));
  }
  Tensor moved = empty_strided(out.sizes(), strides.data(), out.dtype(), out.device());
  if (out.numel() && !out.device().is_meta()) copy_bits(moved, out);
  return moved;
}

}  // namespace rushlight
