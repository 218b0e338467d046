// Bessel functions of orders 0 and 1 and Airy's function, in double. The former are two fitted
// series each, both computed for every element, as the CPU's vectors need it.
#pragma once
#include "special.h"

namespace rushlight {

// A polynomial of order 0 or of order 1.
template <int kOrder, const auto& of_0, const auto& of_1>
HOST_DEVICE inline double of_order(double z) {
  if constexpr (kOrder == 0)
    return polynomial<of_0>(z);
  else
    return polynomial<of_1>(z);
}

// I_n(x), or exp(-|x|) I_n(x): a power series up to 8, then one in 1 / x.
template <int n, bool kScaled>
HOST_DEVICE inline double bessel_i_of_near(double x) {  // |x| <= 8
  using C = coefficients::Of<double>;
  const double y = of_order<n, C::bessel_i0, C::bessel_i1>(x * x) * (n ? x : 1);
  return kScaled ? y * exp(-abs(x)) : y;
}
template <int n, bool kScaled>
HOST_DEVICE inline double bessel_i(double x) {
  using C = coefficients::Of<double>;
  const double a = abs(x), low = a > 8 ? 8.0 : a, inverse = 1 / (a < 8 ? 8.0 : a);
  const double near = of_order<n, C::bessel_i0, C::bessel_i1>(low * low) * (n ? x : 1);
  const double series =
      of_order<n, C::bessel_i0_far, C::bessel_i1_far>(inverse - 0.0625) * sqrt(inverse);
  const double far = n ? copysign(series, x) : series, power = exp(kScaled ? -low : a);
  return a < 8 ? (kScaled ? near * power : near) : (kScaled ? far : far * power);
}

// K_n(x), or exp(x) K_n(x)
template <int n, bool kScaled>
HOST_DEVICE inline double bessel_k(double x) {
  using C = coefficients::Of<double>;
  const double low = x > 1 ? 1.0 : x, high = x < 1 ? 1.0 : x, z = low * low;
  const double of_log = log(low) * of_order<n, C::bessel_i0, C::bessel_i1>(z);
  const double rest = of_order<n, C::bessel_k0, C::bessel_k1>(z);
  const double near = n ? 1 / low + low * (of_log + rest) : rest - of_log;
  const double series = of_order<n, C::bessel_k0_far, C::bessel_k1_far>(1 / (high + 1) - 0.25);
  const double far = series / sqrt(high), power = exp(kScaled ? low : -high);
  const double y = x < 1 ? (kScaled ? near * power : near) : (kScaled ? far : far * power);
  return x == 0 ? kInfinity<double> : y;
}

// J_n(x) and Y_n(x) up to 8 are polynomials in x^2, the latter besides a logarithm; from there on
// Hankel's expansion (DLMF 10.17) with P and Q fitted.
template <int n>
HOST_DEVICE inline double bessel_j_near(double x) {  // |x| <= 8
  using C = coefficients::Of<double>;
  const double rest = of_order<n, C::bessel_j0, C::bessel_j1>(x * x - 64);
  // x^2 - r^2 for the zeros r, which no double is: in two parts, so that no digits cancel
  constexpr double high[] = {n ? 3.8317059702075125 : 2.404825557695773,
                             n ? 7.015586669815619 : 5.520078110286311};
  constexpr double low[] = {n ? -1.52691840900880675e-16 : -1.17669165153089412e-16,
                            n ? -9.4141656534103891e-17 : 8.08859714614672231e-17};
  const double y = ((abs(x) - high[0]) - low[0]) * (abs(x) + high[0]) *
                   (((abs(x) - high[1]) - low[1]) * (abs(x) + high[1])) * rest;
  return n ? y * x : y;
}
template <int n>
HOST_DEVICE inline double bessel_y_near(double x) {  // 0 < x <= 8
  using C = coefficients::Of<double>;
  const double of_log = log(x) * bessel_j_near<n>(x) - (n ? 1 / x : 0);
  const double rest = of_order<n, C::bessel_y0, C::bessel_y1>(x * x - 32) * (n ? x : 1);
  return 2 / kPi<double> * of_log + rest;
}
enum class Kind { first, second };  // J or Y
template <int n, Kind kind>
HOST_DEVICE inline double hankel(double x, double sine, double cosine) {  // of x >= 8
  using C = coefficients::Of<double>;
  const double inverse = 1 / x, z = inverse * inverse - 0.0078125;
  const double p = of_order<n, C::hankel_p0, C::hankel_p1>(z);
  const double q = of_order<n, C::hankel_q0, C::hankel_q1>(z) * inverse;
  // sqrt(2) times the cosine and the sine of x - (2 n + 1) pi / 4
  const double c = n ? sine - cosine : cosine + sine, s = n ? -(sine + cosine) : sine - cosine;
  const double value = kind == Kind::first ? p * c - q * s : p * s + q * c;
  return value * sqrt(inverse * (1 / kPi<double>));
}
inline constexpr double kNearAngle = Layout<double>::near_angle;
// Of a size up to kNearAngle, without a branch.
template <int n, Kind kind>
HOST_DEVICE inline double bessel_of_near(double x) {
  const double a = kind == Kind::first ? abs(x) : x;
  const double low = a > 8 ? 8.0 : a, high = a < 8 ? 8.0 : a;
  const SineAndCosine<double> angle = sine_and_cosine(high);
  const double far = hankel<n, kind>(high, angle.sine, angle.cosine);
  if constexpr (kind == Kind::first) {
    const double y = a < 8 ? bessel_j_near<n>(low) : far;
    return n ? y * copysign(1.0, x) : y;
  } else {
    const double y = a < 8 ? bessel_y_near<n>(low) : far;
    return x == 0 ? -kInfinity<double> : y;
  }
}
template <int n, Kind kind>
HOST_DEVICE inline double bessel(double x) {
  const double a = kind == Kind::first ? abs(x) : x;
  if (!(a > kNearAngle)) return bessel_of_near<n, kind>(x);
  const double y = hankel<n, kind>(a, std::sin(a), std::cos(a));
  return n ? y * copysign(1.0, x) : y;
}

HOST_DEVICE inline double spherical_bessel_j0_of_near(double x) {
  return x == 0 ? 1.0 : sin(x) / x;
}
HOST_DEVICE inline double spherical_bessel_j0(double x) {
  if (!(abs(x) > kNearAngle)) return spherical_bessel_j0_of_near(x);
  return abs(x) == kInfinity<double> ? 0 : std::sin(x) / x;
}

// Airy's function: polynomials from -6 to -2.5 and to 1, above that an exponential times a series
// in 1 / zeta, below -6 as Hankel's expansion (DLMF 9.7.5 and 9.7.9, with fitted series).
HOST_DEVICE inline double airy_ai_far(double zeta, double sine, double cosine, double fourth_root) {
  using C = coefficients::Of<double>;
  const double inverse = 1 / zeta, z = inverse * inverse - 0.0052;
  const double p = polynomial<C::airy_p>(z), q = polynomial<C::airy_q>(z) * inverse;
  const double value = (cosine + sine) * p + (sine - cosine) * q;
  return value * 0.398942280401432677940 / fourth_root;  // 1 / sqrt(2 pi)
}
// 2/3 a^(3/2) in two parts, as the second would be lost to sine, cosine and exponential.
struct AiryAngle {
  double root, high, low;
};
HOST_DEVICE inline AiryAngle airy_angle(double a) {
  constexpr double ratio = 2. / 3, rest = 3.70074341541718826e-17;  // of 2/3
  const double root = sqrt(a), root_lacks = -product_error(root, root, a) / (2 * root);
  const double power = a * root, power_lacks = product_error(a, root, power) + a * root_lacks;
  const double zeta = power * ratio;
  return {root, zeta, product_error(power, ratio, zeta) + power * rest + ratio * power_lacks};
}
inline constexpr double kNearAiry = 1e4;  // below, zeta is a near angle
HOST_DEVICE inline double airy_ai_of_near(double x) {
  using C = coefficients::Of<double>;
  const double a = abs(x);
  const AiryAngle angle = airy_angle(a < 1 ? 1.0 : a);
  const double zeta = angle.high, fourth_root = sqrt(angle.root);
  const double far_zeta = a < 6 ? 9.797958971132712 : zeta;
  const SineAndCosine<double> of = sine_and_cosine(zeta);
  const double sine = of.sine + angle.low * of.cosine, cosine = of.cosine - angle.low * of.sine;
  const double below = airy_ai_far(far_zeta, sine, cosine, fourth_root);
  const double series = polynomial<C::airy_far>(1 / (zeta + 1) - 0.3);
  const double power = exp(-zeta), above = (power - power * angle.low) * series / fourth_root;
  const double bounded = a > 6 ? copysign(6.0, x) : x;
  const double low = bounded > -2.5 ? -2.5 : bounded, high = bounded < -2.5 ? -2.5 : bounded;
  const double left = polynomial<C::airy_left>(low + 4.25);
  const double right = polynomial<C::airy_right>((high > 1 ? 1.0 : high) + 0.75);
  const double middle = x < -2.5 ? left : right, outer = x < 0 ? below : above;
  return (x >= -6) & (x < 1) ? middle : outer;
}
HOST_DEVICE inline double airy_ai(double x) {
  if (!(abs(x) > kNearAiry)) return airy_ai_of_near(x);
  if (x > 0) return x == kInfinity<double> ? kNaN<double> : 0;  // as torch
  const AiryAngle angle = airy_angle(-x);
  const double s = std::sin(angle.high), c = std::cos(angle.high);
  const double t = std::sin(angle.low), d = std::cos(angle.low);
  return airy_ai_far(angle.high, s * d + c * t, c * d - s * t, std::sqrt(angle.root));
}

}  // namespace rushlight
