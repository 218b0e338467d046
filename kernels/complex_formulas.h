// Formulas of complex numbers in parts: of elements on any device, and of tensors
// (csrc/ops/value.h).
#pragma once
#include "math/real.h"

namespace rushlight {

template <class T>
struct ComplexParts {
  T re, im;
};

// The quotient of the divisor's parts, the smaller by the larger, cannot overflow (Smith's method).
// By 0 each part is divided alone.
template <class T>
HOST_DEVICE ComplexParts<T> quotient(const ComplexParts<T>& a, const ComplexParts<T>& b) {
  const auto wide = abs(b.re) >= abs(b.im);
  const T large = where(wide, b.re, b.im), small = where(wide, b.im, b.re);
  const auto none = large == T(0);
  const T ratio = where(none, large, small / large);
  const T scale = T(1) / where(none, abs(large), large + small * ratio);
  const T re = where(wide, a.re + a.im * ratio, a.re * ratio + a.im);
  const T im = where(wide, a.im - a.re * ratio, a.im * ratio - a.re);
  return {where(none, a.re, re) * scale, where(none, a.im, im) * scale};
}

}  // namespace rushlight
