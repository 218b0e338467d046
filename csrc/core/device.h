// Device and dtype as values, with their names.
#pragma once
#include <ostream>
#include <string_view>

#include "kernels/dtype.h"

namespace rushlight {

// A tensor is on cpu, cuda or meta; the others are types that a program may name and compare.
enum class DeviceType : std::uint8_t {
  cpu,
  cuda,
  meta,
  ipu,
  xpu,
  mkldnn,
  opengl,
  opencl,
  ideep,
  hip,
  ve,
  fpga,
  maia,
  xla,
  lazy,
  vulkan,
  mps,
  hpu,
  mtia,
  privateuseone
};

// index is -1 where none was given: "cuda" means the current device once a tensor is made.
struct Device {
  DeviceType type = DeviceType::cpu;
  std::int8_t index = -1;
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return type == DeviceType::cpu; }
  bool is_cuda() const { return type == DeviceType::cuda; }
  bool is_meta() const { return type == DeviceType::meta; }
};
inline constexpr Device kCpu{};

Device parse_device(std::string_view text);  // "cuda:1"; torch's words where it cannot be one
const char* device_type_name(DeviceType type);
[[noreturn]] void fail_without_device(Device d);  // for a type that holds no tensor
std::ostream& operator<<(std::ostream& s, Device d);  // cuda:0

const char* dtype_name(DType d);   // float32
const char* scalar_name(DType d);  // Float
const char* c_name(DType d);       // float, long int: as torch's convolutions name types
std::ostream& operator<<(std::ostream& s, DType d);  // torch.float32

// What two tensors of these dtypes compute in.
DType promote_types(DType a, DType b);
bool can_cast(DType from, DType to);
DType complex_of(DType d);  // whose parts hold the numbers of d
DType real_of(DType d);     // of the parts; d itself where it is not complex
DType default_dtype();
void set_default_dtype(DType d);

}  // namespace rushlight
