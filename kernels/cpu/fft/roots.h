// Roots of unity, as exact as double holds them.
#pragma once
#include <cmath>
#include <cstdint>

namespace rushlight::fft {

struct Root {
  double re, im;
};

// exp(-2 pi i k / n) for 0 <= k < n < 2^59: the angle is brought into the first eighth of the
// circle by integers, so its rounding is that of one small quotient.
inline Root root(std::int64_t k, std::int64_t n) {
  std::int64_t eighths = 8 * k;
  const std::int64_t octant = eighths / n;
  eighths -= octant * n;  // of the octant, in units of 1 / n
  const bool backwards = octant & 1;
  if (backwards) eighths = n - eighths;
  constexpr double kPi = 3.14159265358979323846;
  const double angle = double(eighths) / double(n) * (kPi / 4);
  const double c = std::cos(angle), s = std::sin(angle);
  // From the nearest multiple of a quarter: the angle forwards or backwards.
  const double forward = backwards ? -s : s;
  switch ((octant + 1) / 2 % 4) {
    case 0: return {c, -forward};
    case 1: return {-forward, -c};
    case 2: return {-c, forward};
    default: return {forward, c};
  }
}

}  // namespace rushlight::fft
