// The scaled complement of the error function, and the normal distribution's functions, in double.
#pragma once
#include "special.h"

namespace rushlight {

// exp(a^2) erfc(a) for a from 1/2 on: erfc's polynomial, and the asymptotic series (DLMF 7.12.1).
HOST_DEVICE inline double erfcx_far(double a) {
  constexpr double end = 25;
  const double q = 1 / (a + 2.5), y = 1 / a, z = y * y;
  const double near = q * polynomial<coefficients::Of<double>::erfcx>(q - 0.1875);
  const double series =
      1 - z * (1. / 2 - z * (3. / 4 - z * (15. / 8 -
                                           z * (105. / 16 - z * (945. / 32 - z * (10395. / 64))))));
  return a < end ? near : 0.564189583547756286948 * y * series;
}
// Without a branch. The square is exact in two parts: below 0 it grows to 700.
HOST_DEVICE inline double erfcx(double x) {
  constexpr double end = 27;  // infinite from -end on
  const double a = abs(x), bounded = a > end ? end : a, high = upper_half(bounded);
  const double low = (bounded - high) * (bounded + high);
  const double grown = exp(high * high) * (1 + low * (1 + low * (0.5 + low / 6)));
  const double near = grown * (1 - erf_near(a > 0.5 ? 0.5 : x));
  const double far = erfcx_far(a < 0.5 ? 0.5 : a), sided = x < 0 ? 2 * grown - far : far;
  return a < 0.5 ? near : sided;
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
HOST_DEVICE inline double log_ndtr(double x) {  // without a branch
  const double t = x * 0.707106781186547524401, end = -0.707106781186547524401;
  const double below = log(erfcx_far(t < end ? -t : -end) / 2) - t * t;
  const double above = log1p(-erfc(t < end ? end : t) / 2);
  return t < end ? below : above;
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
