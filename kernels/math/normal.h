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
HOST_DEVICE inline double ndtr(double x) { return 0.5 * ::erfc(-x * 0.707106781186547524401); }
HOST_DEVICE inline double log_ndtr(double x) {
  const double t = x * 0.707106781186547524401;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-::erfc(t) / 2);
}
// Winitzki's approximation of the inverse of erfc, then Newton's steps on the logarithm of erfc,
// which is nearly a parabola, however small p is.
HOST_DEVICE inline double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN<double>;
  const double q = 2 * (p < 0.5 ? p : 1 - p);  // erfc of the result's size over sqrt(2)
  if (q == 0) return std::copysign(kInfinity<double>, p - 0.5);
  const double goal = std::log(q), l = goal + std::log(2 - q), b = 4.3307467508 + 0.5 * l;
  double y = std::sqrt(std::sqrt(b * b - l / 0.147) - b);
  for (int step = 0; step < 5; ++step) {
    const double scaled = erfcx(y);
    y += (std::log(scaled) - y * y - goal) * scaled * 0.886226925452758013649;
  }
  return (p < 0.5 ? -y : y) * 1.41421356237309504880;
}

}  // namespace rushlight
