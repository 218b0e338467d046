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
    fail<TypeError>("only floating-point types are supported as the default type\nit was given ",
                    d);
  if (is_only_stored(d))
    fail<TypeError>("couldn't find storage object ", scalar_name(d),
                    "Storage\nthe default is one of ",
                    "float16, bfloat16, float32 and float64, nothing is computed in ", d);
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
  constexpr const char* names[kStoredDTypes] = {"bool",
                                                "uint8",
                                                "int8",
                                                "int16",
                                                "int32",
                                                "int64",
                                                "float16",
                                                "bfloat16",
                                                "float32",
                                                "float64",
                                                "float8_e4m3fn",
                                                "float8_e5m2",
                                                "float8_e4m3fnuz",
                                                "float8_e5m2fnuz",
                                                "float8_e8m0fnu",
                                                "float4_e2m1fn_x2",
                                                "uint16",
                                                "uint32",
                                                "uint64",
                                                "complex32",
                                                "complex64",
                                                "complex128"};
  return names[int(d)];
}
const char* scalar_name(DType d) {
  constexpr const char* names[kStoredDTypes] = {"Bool",
                                                "Byte",
                                                "Char",
                                                "Short",
                                                "Int",
                                                "Long",
                                                "Half",
                                                "BFloat16",
                                                "Float",
                                                "Double",
                                                "Float8_e4m3fn",
                                                "Float8_e5m2",
                                                "Float8_e4m3fnuz",
                                                "Float8_e5m2fnuz",
                                                "Float8_e8m0fnu",
                                                "Float4_e2m1fn_x2",
                                                "UInt16",
                                                "UInt32",
                                                "UInt64",
                                                "ComplexHalf",
                                                "ComplexFloat",
                                                "ComplexDouble"};
  return names[int(d)];
}
const char* c_name(DType d) {
  constexpr const char* names[kStoredDTypes] = {"bool",
                                                "unsigned char",
                                                "signed char",
                                                "short int",
                                                "int",
                                                "long int",
                                                "c10::Half",
                                                "c10::BFloat16",
                                                "float",
                                                "double",
                                                "c10::Float8_e4m3fn",
                                                "c10::Float8_e5m2",
                                                "c10::Float8_e4m3fnuz",
                                                "c10::Float8_e5m2fnuz",
                                                "c10::Float8_e8m0fnu",
                                                "c10::Float4_e2m1fn_x2",
                                                "short unsigned int",
                                                "unsigned int",
                                                "long unsigned int",
                                                "c10::complex<c10::Half>",
                                                "c10::complex<float>",
                                                "c10::complex<double>"};
  return names[int(d)];
}
std::ostream& operator<<(std::ostream& s, DType d) { return s << "torch." << dtype_name(d); }

DType complex_of(DType d) {
  if (is_complex(d)) return d;
  if (d == DType::float64) return DType::complex128;
  return d == DType::float32 || d == DType::bfloat16 ? DType::complex64 : DType::complex32;
}

DType real_of(DType d) {
  if (!is_complex(d)) return d;
  return d == DType::complex128 ? DType::float64
                                : (d == DType::complex64 ? DType::float32 : DType::float16);
}

// Where one of them is only stored.
static DType promote_stored(DType a, DType b) {
  const auto refuse = [&](const char* types) {
    fail<RuntimeError>("Promotion for ", types, " is not supported, attempted to promote ",
                       scalar_name(a), " and ", scalar_name(b));
  };
  if (is_float8(a) || is_float8(b)) refuse("Float8 Types");
  const auto is_wide_unsigned = [](DType d) { return is_integral(d) && is_only_stored(d); };
  if (is_wide_unsigned(a) && is_floating(b)) return b;
  if (is_wide_unsigned(b) && is_floating(a)) return a;
  if (a == DType::float4_e2m1fn_x2 || b == DType::float4_e2m1fn_x2) refuse("Float4_e2m1fn_x2");
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) refuse("uint16, uint32, uint64 types");
  return std::max(complex_of(a), complex_of(b));
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_only_stored(a) || is_only_stored(b)) return promote_stored(a, b);
  if (a > b) std::swap(a, b);
  if (a == DType::float16 && b == DType::bfloat16) return DType::float32;
  if (a == DType::uint8 && b == DType::int8) return DType::int16;
  return b;
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to)) return false;
  return from == DType::boolean || to != DType::boolean;
}

}  // namespace rushlight
