// Python's numbers among integers: which of them a dtype holds, and what becomes of the others.
#include <cmath>
#include <limits>

#include "kernels/stored.h"
#include "ops/ops.h"

namespace rushlight {
namespace {

struct Limits {
  std::int64_t low, high;  // of uint64, what a Scalar can be
  bool is_unsigned;
};
Limits limits_of(DType dtype) {
  return dispatch_stored(dtype, [&]<class S>(Type<S>) -> Limits {
    if constexpr (std::is_integral_v<S> && !std::is_same_v<S, bool>) {
      constexpr auto most = std::uint64_t(std::numeric_limits<S>::max());
      constexpr auto largest = std::uint64_t(std::numeric_limits<std::int64_t>::max());
      return {std::int64_t(std::numeric_limits<S>::min()), std::int64_t(std::min(most, largest)),
              std::is_unsigned_v<S>};
    }
    return {};
  });
}

// torch's words for the type of a number.
std::string number_name(DType dtype) {
  if (dtype == DType::int32 || !is_integral(dtype)) return text(c_name(dtype));
  return text(dtype_name(dtype), "_t");
}

}  // namespace

bool holds(DType dtype, Scalar value) {
  if (!is_integral(dtype) || dtype == DType::boolean) return true;
  const Limits of = limits_of(dtype);
  if (!value.is_floating())
    return value.i >= (of.is_unsigned ? -of.high : of.low) && value.i <= of.high;
  const double above = double(of.high);  // of 64 bits 2^63, which is one too many
  return value.d >= double(of.low) && (above < 0x1p63 ? value.d <= above : value.d < above);
}

void check_fits(std::string_view op, const char* argument, Scalar value, DType dtype) {
  if (holds(dtype, value)) [[likely]]
    return;
  const Limits of = limits_of(dtype);
  const double d = value.as_double();
  const bool is_short = std::trunc(d) == d && std::fabs(d) < 1e6;
  const std::string number = value.is_floating() ? text(d, is_short ? ".0" : "") : text(value.i);
  fail<RuntimeError>("value cannot be converted to type ", number_name(dtype),
                     " without overflow\n", op, "(): ", argument, " is ", number, ", and ", dtype,
                     " holds ", of.low, " to ", of.high,
                     ": convert the tensor first, for example with .long() or .float()");
}

Tensor number_as(std::string_view op, const Tensor& number, DType dtype) {
  if (is_complex(dtype)) return to(number, dtype);
  const auto v = element_of(number, number.offset()).as<Complex<double>>(number.dtype());
  if (dtype == DType::boolean)
    return scalar_tensor(Scalar(v.real != 0 || v.imag != 0), dtype, number.device());
  if (v.imag != 0)
    fail<RuntimeError>("value cannot be converted to type ", number_name(dtype),
                       " without overflow\n", op, "(): the number is ", v.real, " + ", v.imag,
                       "j, and ", dtype, " holds real ones: convert the tensor first, for ",
                       "example with .cfloat()");
  check_fits(op, "value", Scalar(v.real), dtype);
  return scalar_tensor(Scalar(v.real), dtype, number.device());
}

void check_value(std::string_view op, const Tensor& value, DType dtype) {
  if (is_integral(dtype) && value.dtype() != dtype && value.device().is_cpu() &&
      !is_complex(value.dtype()) && !is_only_stored(value.dtype()))
    check_fits(op, "value", item(value), dtype);
}

Scalar wrapped_to(DType dtype, Scalar value) {
  if (is_floating(dtype) || value.is_floating()) return value;
  if (dtype == DType::boolean) return Scalar(value.i != 0);
  return dispatch_integral(
      dtype, [&]<class S>(Type<S>) { return Scalar(std::int64_t(static_cast<S>(value.i))); });
}

}  // namespace rushlight
