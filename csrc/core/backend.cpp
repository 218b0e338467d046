// The one switch on device type.
#include "core/backend.h"

#include "core/cuda.h"
#include "core/error.h"

namespace rushlight {

const Backend& backend_table(Device device) {
  switch (device.type) {
    case DeviceType::cpu: return cpu_backend;
    case DeviceType::cuda: return cuda_backend();
    case DeviceType::meta: break;
    default: fail_without_device(device);
  }
  fail<NotImplementedError>(
      "a meta tensor has a shape and no data, so nothing can be computed with it\nmake it real "
      "first: Tensor.to_empty-like creation on cpu or cuda, or Module.to_empty(device=...)");
}

const Backend& entered_backend(Device device) {
  const Backend& table = backend_table(device);
  if (table.enter) table.enter(device.index, current_stream(device.index));
  return table;
}

Device resolve(Device device) {
  if (device.is_cpu()) return kCpu;  // whatever its index
  if (device.is_meta()) return Device{device.type, -1};
  if (!device.is_cuda()) fail_without_device(device);
  cuda_backend();
  if (device.index < 0) device.index = std::int8_t(current_cuda_device());
  check_cuda_index(device.index);
  return device;
}

}  // namespace rushlight
