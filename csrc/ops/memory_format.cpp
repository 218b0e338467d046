// See memory_format.h. The rule, with its ambiguous cases, is the one torch documents for
// suggest_memory_format.
#include "ops/memory_format.h"

#include "ops/ops.h"

namespace rushlight {

int channels_last_rank(const MaybeFormat& format) {
  if (format == MemoryFormat::channels_last) return 4;
  return format == MemoryFormat::channels_last_3d ? 5 : 0;
}

Strides channels_last_strides(Sizes sizes, int rank) {
  if (int(sizes.size()) != rank)
    fail<RuntimeError>("required rank ", rank, " tensor to use channels_last",
                       rank == 5 ? "_3d" : "", " format");
  Strides strides{};
  std::int64_t next = 1;
  for (int i = 0; i < rank; ++i) {
    const int d = i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
    strides[std::size_t(d)] = next;
    next = checked_mul(next, sizes[std::size_t(d)]);
  }
  return strides;
}

Tensor empty_in_format(Sizes sizes, DType dtype, Device device, const MaybeFormat& format) {
  const int rank = channels_last_rank(format);
  if (!rank) return empty(sizes, dtype, device);
  return empty_strided(sizes, channels_last_strides(sizes, rank).data(), dtype, device);
}

Tensor empty_like(const Tensor& input, DType dtype, Device device, const MaybeFormat& format) {
  const bool preserve = !format || format == MemoryFormat::preserve;
  if (preserve && device == input.device() && !device.is_meta()) return empty_like(input, dtype);
  return empty_in_format(input.sizes(), dtype, device, format);
}

Tensor in_format(const Tensor& t, const MaybeFormat& format) {
  if (!format || format == MemoryFormat::preserve) return t;
  if (format == MemoryFormat::contiguous) return contiguous(t);
  const int rank = channels_last_rank(format);
  channels_last_strides(t.sizes(), rank);  // checks the rank
  return rank == 4 ? permute(contiguous(permute(t, {0, 2, 3, 1})), {0, 3, 1, 2})
                   : permute(contiguous(permute(t, {0, 2, 3, 4, 1})), {0, 4, 1, 2, 3});
}

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

MemoryFormat format_of(const Tensor& t) {
  if (!is_channels_last(t)) return MemoryFormat::contiguous;
  return t.dim() == 5 ? MemoryFormat::channels_last_3d : MemoryFormat::channels_last;
}

Tensor in_format_of(const Tensor& like, Tensor out) {
  if (out.dim() != like.dim() || !is_channels_last(like)) [[likely]]
    return out;
  const GradMode off(false);
  const Strides strides = channels_last_strides(out.sizes(), out.dim());
  Tensor moved = empty_strided(out.sizes(), strides.data(), out.dtype(), out.device());
  if (out.numel() && !out.device().is_meta()) copy_bits(moved, out);
  return moved;
}

bool has_channels_inside(const Tensor& image) {
  return image.dim() == 4 && image.device().is_cpu() && is_channels_last(image);
}
Tensor channels_inside(const Tensor& image) {
  const GradMode off(false);
  return contiguous(image.dim() == 5 ? permute(image, {0, 2, 3, 4, 1})
                                     : permute(image, {0, 2, 3, 1}));
}
Tensor empty_image(const Shape& sizes, DType dtype, Device device, bool channels_last) {
  if (!channels_last) return empty(sizes, dtype, device);
  const bool volume = sizes.rank == 5;
  return empty_in_format(sizes.view(), dtype, device,
                         volume ? MemoryFormat::channels_last_3d : MemoryFormat::channels_last);
}

}  // namespace rushlight
