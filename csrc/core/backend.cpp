// The one switch on device type.
#include "core/backend.h"

#include "core/error.h"

namespace rushlight {

static const CudaRuntime* runtime = nullptr;
const CudaRuntime* cuda_runtime() { return runtime; }
void set_cuda_runtime(const CudaRuntime* r) { runtime = r; }
void (*initialize_cuda)() = nullptr;

static const CudaRuntime& required_runtime() {
  if (!runtime && initialize_cuda) initialize_cuda();
  if (!runtime) fail<RuntimeError>("No CUDA GPUs are available");
  return *runtime;
}

const Backend& backend_table(Device device) {
  switch (device.type) {
    case DeviceType::cpu: return cpu_backend;
    case DeviceType::cuda: return *required_runtime().table;
    case DeviceType::meta: break;
  }
  fail<NotImplementedError>(
      "a meta tensor has a shape and no data, so nothing can be computed with it\nmake it real "
      "first: Tensor.to_empty-like creation on cpu or cuda, or Module.to_empty(device=...)");
}

const Backend& backend(Device device) {
  const Backend& table = backend_table(device);
  if (table.enter) table.enter(device.index);
  return table;
}

Device resolve(Device device) {
  if (device.is_cpu()) {
    if (device.index > 0)
      fail<RuntimeError>("CPU device index must be -1 or zero, got ", int(device.index));
    return kCpu;
  }
  if (!device.is_cuda()) return Device{device.type, -1};
  const CudaRuntime& r = required_runtime();
  if (device.index < 0) device.index = std::int8_t(r.current_device());
  if (device.index >= r.device_count())
    fail<AcceleratorError>(
        "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough "
        "GPUs?\n",
        device, " was asked for, and there ", r.device_count() == 1 ? "is " : "are ",
        r.device_count(), " visible: ", r.device_count() ? "cuda:0" : "none",
        r.device_count() > 1 ? text(" to cuda:", r.device_count() - 1) : "");
  return device;
}

}  // namespace rushlight
