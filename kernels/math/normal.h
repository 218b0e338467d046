// The scaled complement of the error function, and the normal distribution's functions, in double.
#pragma once
#include "special.h"

namespace rushlight {

// exp(x^2) erfc(x): from 3 on by the continued fraction (DLMF 7.9.1), from its 60th term back
HOST_DEVICE inline double erfcx(double x) {
  if (!(x > 3)) return std::exp(x * x) * ::erfc(x);
  double f = x;
  for (int k = 60; k > 0; --k) f = x + 0.5 * k / f;
  return 1 / (f * std::sqrt(kPi<double>));
}
// erfc(a + e) = erfc(a) (1 - e (a + sqrt(a^2 + 4 / pi))), nearly, for what -x / sqrt(2) loses.
template <Real T>
HOST_DEVICE inline T ndtr(T x) {
  constexpr T scale = T(-0.707106781186547524401);
  constexpr T rest = sizeof(T) == 4 ? T(-1.21016171e-8) : T(4.83364665672645673e-17);
  const T low = x < T(-40) ? T(-40) : x, bounded = low > T(40) ? T(40) : low, a = bounded * scale;
  const T lost = product_error(bounded, scale, a) + bounded * rest;
  const T correction = lost * (a + sqrt(a * a + T(1.27323954473516268615)));
  const T y = T(0.5) * erfc(a);
  return y - (a > T(0) ? correction : T(0)) * y;
}
HOST_DEVICE inline double log_ndtr(double x) {
  const double t = x * 0.707106781186547524401;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-::erfc(t) / 2);
}
// sqrt(2) erfinv(2 p - 1) with 1 - (2 p - 1)^2 from p itself, however small it is: by erfinv's
// series, and one more for p below 2e-17, where 2 p - 1 is -1.
HOST_DEVICE inline double ndtri_of_near(double p) {  // 4 p (1 - p) > exp(-6.25)
  const double w = -log_of(logarithm<true>(4 * p * (1 - p)));
  return 1.41421356237309504880 * erfinv_near(2 * p - 1, w);
}
HOST_DEVICE inline double ndtri(double p) {
  using C = coefficients::Of<double>;
  const double x = 2 * p - 1, w = -log(4 * p * (1 - p)), near = erfinv_near(x, w);
  const double root = sqrt(w < kErfinvEnd<double> ? kErfinvEnd<double> : w);
  const double middle = polynomial<C::erfinv_middle>((root > 4 ? 4 : root) - 3.25);
  const double bounded = root > 6.1 ? 6.1 : root;
  const double far = polynomial<C::erfinv_far>((bounded < 4 ? 4 : bounded) - 5);
  const double high = root < 6.1 ? 6.1 : root;
  const double farthest = high * polynomial<C::erfinv_farthest>(1 / (high + 8) - 0.05);
  const double outer = root < 6.1 ? far : farthest, outside = root < 4 ? middle : outer;
  const double y = w < kErfinvEnd<double> ? near : x * outside;
  const double z = 1.41421356237309504880 * y;
  return w == kInfinity<double> ? copysign(w, x) : z;
}

}  // namespace rushlight
