// Storages of another size, and tensors of another shape on them. Note: views of a
// storage that became smaller stay as they are; what reads them finds its end, and raises.
#include "core/backend.h"
#include "ops/memory_format.h"
#include "ops/ops.h"

namespace rushlight {

void resize_storage(const Tensor& of, std::int64_t bytes) {
  Storage& s = *of->storage;
  if (bytes < 0)
    fail<RuntimeError>(
        "[enforce fail at alloc_cpu] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been "
        "called with negative number: ",
        bytes);
  if (!s.resizable)
    fail<RuntimeError>(
        "Trying to resize storage that is not resizable\nits memory belongs to, or is shared with, "
        "another owner (NumPy, DLPack, another process, page-locked memory): clone() the tensor");
  if (std::size_t(bytes) == s.bytes) return;
  if (s.in_use)
    fail<RuntimeError>(
        "a storage cannot be resized while its memory is in use\n", describe("tensor", of),
        "; another thread computes with it, or a memoryview shows it: wait, or work on a clone()");
  if (s.device.is_meta()) {
    s.bytes = std::size_t(bytes);
    return;
  }
  check_alive(of);
  if (s.device.is_cpu()) return s.resize_cpu(std::size_t(bytes));
  // Device memory changes its owner.
  const Ref<Storage> made = Storage::make(std::size_t(bytes), s.device);
  const Shape size{std::int64_t(std::min(s.bytes, made->bytes))};
  const std::int64_t one = 1;
  if (size[0])
    copy_bits(from_storage(made, DType::uint8, size, &one, 0),
              from_storage(of->storage, DType::uint8, size, &one, 0));
  std::swap(s.data, made->data);
  std::swap(s.bytes, made->bytes);
}

Tensor resize_(const Tensor& self, const Shape& size, int channels_last) {
  if (self.requires_grad()) fail<RuntimeError>("cannot resize variables that require grad");
  Strides strides{};
  const std::int64_t numel = contiguous_strides(size, strides);
  if (channels_last) strides = channels_last_strides(size.view(), channels_last);
  Body& b = *self.body();
  if (b.shape == size && !channels_last) return self;
  const std::int64_t needed =
      checked_mul(checked_add(b.offset, numel), std::int64_t(item_size(b.dtype)));
  if (numel && std::size_t(needed) > b.storage->bytes) resize_storage(self, needed);
  const Tensor made = from_storage(b.storage, b.dtype, size.view(), strides.data(), b.offset);
  take_geometry(self, made);
  return self;
}

}  // namespace rushlight
