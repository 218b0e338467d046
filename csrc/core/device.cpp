// Names and promotion of dtypes, parsing of device strings.
#include "core/device.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "core/error.h"

namespace rushlight {

static std::atomic<DType> default_dtype_{DType::float32};
DType default_dtype() { return default_dtype_.load(std::memory_order_relaxed); }
void set_default_dtype(DType d) {
  if (!is_floating(d))
    fail<TypeError>("only floating-point types are supported as the default type, not ", d);
  default_dtype_ = d;
}

// In the order of DeviceType.
static constexpr std::string_view kTypeNames[] = {
    "cpu", "cuda", "meta", "ipu", "xpu",  "mkldnn", "opengl", "opencl", "ideep", "hip",
    "ve",  "fpga", "maia", "xla", "lazy", "vulkan", "mps",    "hpu",    "mtia",  "privateuseone"};
static_assert(std::size(kTypeNames) == std::size_t(DeviceType::privateuseone) + 1);

const char* device_type_name(DeviceType type) { return kTypeNames[int(type)].data(); }

void fail_without_device(Device d) {
  const std::string_view name = device_type_name(d.type);
  std::string upper(name);
  for (char& c : upper) c = char(c - 'a' + 'A');
  constexpr const char* cure = "\ntensors are on cpu, cuda or meta here";
  if (d.type == DeviceType::xpu || d.type == DeviceType::mtia)
    fail<AssertionError>("Torch not compiled with ", upper, " enabled", cure);
  fail<NotImplementedError>("Could not run 'aten::empty.memory_format' with arguments from the '",
                            upper, "' backend", cure);
}

std::ostream& operator<<(std::ostream& s, Device d) {
  s << device_type_name(d.type);
  if (d.index >= 0) s << ':' << int(d.index);
  return s;
}

Device parse_device(std::string_view s) {
  const std::size_t colon = s.find(':');
  const std::string_view type = s.substr(0, colon);
  const auto named = std::ranges::find(kTypeNames, type);
  if (named == std::end(kTypeNames)) {
    const auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (!std::ranges::all_of(type, letter)) fail<RuntimeError>("Invalid device string: '", s, "'");
    fail<RuntimeError>(
        "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, "
        "xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device "
        "string: ",
        type);
  }
  Device d;
  d.type = DeviceType(named - std::begin(kTypeNames));
  if (colon == s.npos) return d;
  const std::string_view digits = s.substr(colon + 1);
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool leading_zero = digits.size() > 1 && digits[0] == '0';
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0 || leading_zero)
    fail<RuntimeError>("Invalid device string: '", s, "'");
  if (index > 127)
    fail<RuntimeError>("Device index must be below 128, but the string is '", s, "'");
  d.index = std::int8_t(index);
  return d;
}

const char* dtype_name(DType d) {
  constexpr const char* names[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                   "int64", "float16", "bfloat16", "float32", "float64"};
  return names[int(d)];
}
const char* scalar_name(DType d) {
  constexpr const char* names[] = {"Bool", "Byte", "Char",     "Short", "Int",
                                   "Long", "Half", "BFloat16", "Float", "Double"};
  return names[int(d)];
}
const char* c_name(DType d) {
  constexpr const char* names[] = {"bool",  "unsigned char", "signed char", "short int",
                                   "int",   "long int",      "c10::Half",   "c10::BFloat16",
                                   "float", "double"};
  return names[int(d)];
}
std::ostream& operator<<(std::ostream& s, DType d) { return s << "torch." << dtype_name(d); }

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (a == DType::float16 && b == DType::bfloat16) return DType::float32;
  if (a == DType::uint8 && b == DType::int8) return DType::int16;
  return b;
}

bool can_cast(DType from, DType to) {
  if (is_floating(from) && !is_floating(to)) return false;
  return from == DType::boolean || to != DType::boolean;
}

}  // namespace rushlight
