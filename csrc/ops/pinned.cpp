// Pinned memory: CPU tensors whose bytes the GPU's runtime has allocated, so that copies to a GPU
// can run beside other work. Note: it is freed by that runtime, whatever has become
// of the devices by then.
#include "core/cuda.h"
#include "ops/ops.h"

namespace rushlight {

static Ref<Storage> pinned_storage(std::size_t bytes) {
  if (cuda_device_count() == 0)
    fail<RuntimeError>(
        "Cannot access accelerator device when none is available.\npinned memory "
        "serves copies to a GPU: ",
        cuda_why_not());
  const DeviceRuntime& runtime = *cuda_backend().runtime;
  void* block = bytes ? runtime.allocate_pinned(bytes) : nullptr;
  if (bytes && !block)
    fail<RuntimeError>("CUDA error: out of memory\n", bytes, " bytes of pinned memory");
  auto storage =
      Storage::borrow(block, bytes, const_cast<DeviceRuntime*>(&runtime), [](Storage& s) noexcept {
        if (s.data) static_cast<const DeviceRuntime*>(s.owner)->release_pinned(s.data, s.bytes);
      });
  storage->pinned = true;
  return storage;
}

bool is_pinned(const Tensor& input) { return input.storage().pinned; }

Tensor pin_memory(const Tensor& input) {
  if (!input.device().is_cpu())
    fail<RuntimeError>("cannot pin '", input.device(), "' only dense CPU tensors can be pinned\n",
                       describe("input", input));
  if (is_pinned(input)) return input;
  auto storage = pinned_storage(std::size_t(bytes_of(input.sizes(), input.dtype())));
  Strides strides{};
  contiguous_strides(input.sizes(), strides);
  Tensor out = from_storage(std::move(storage), input.dtype(), input.sizes(), strides.data(), 0);
  copy_bits(out, input);
  return record(
      "PinMemoryBackward0", std::move(out), [](Tensor g) { return Gradients(std::move(g)); },
      input);
}

}  // namespace rushlight
