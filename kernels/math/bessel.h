// Bessel functions of orders 0 and 1 and Airy's function, in double. Each range has the method that
// loses no digits there: power series, a recurrence from high orders down, sums over a smooth
// integrand, asymptotic series. No loop has more than some hundred steps.
#pragma once
#include "special.h"

namespace rushlight {

inline constexpr double kEuler = 0.577215664901532860607;

// For t_k = z^k / (k! (k + n)!): the sums of t_k and of (psi(k + 1) + psi(k + 1 + n)) t_k.
struct BesselSums {
  double plain, weighted;
};
HOST_DEVICE inline BesselSums bessel_sums(int n, double z) {
  double term = 1, psi = n - 2 * kEuler;
  BesselSums s = {1, psi};
  for (int k = 1; k < 30; ++k) {
    term *= z / (k * double(k + n));
    psi += 1.0 / k + 1.0 / (k + n);
    s.plain += term;
    s.weighted += psi * term;
  }
  return s;
}

// exp(-|x|) I_n(x)
HOST_DEVICE inline double scaled_bessel_i(int n, double x) {
  const double a = std::fabs(x);
  double term = 1, sum = 1;
  if (a <= 30) {
    const double z = a * a / 4;
    for (int k = 1; k < 120 && term > 1e-17 * sum; ++k) {
      term *= z / (k * double(k + n));
      sum += term;
    }
    return sum * std::exp(-a) * (n ? x / 2 : 1);
  }
  for (int k = 1; k <= 24; ++k) {
    term *= ((2 * k - 1) * (2 * k - 1) - 4 * n) / (8 * k * a);
    sum += term;
  }
  const double size = sum / std::sqrt(2 * kPi<double> * a);
  return n ? std::copysign(size, x) : size;
}
HOST_DEVICE inline double bessel_i(int n, double x) {
  return scaled_bessel_i(n, x) * std::exp(std::fabs(x));
}

// exp(x) K_order(x) for x >= 1, by the trapezoidal rule on the integral over t of
// exp(-x (cosh(t) - 1)) cosh(order t), which converges faster than any power of the step.
HOST_DEVICE inline double integral_of_bessel_k(double order, double x) {
  if (x == kInfinity<double>) return 0;
  const double h = std::fmin(0.2, 0.6 / std::sqrt(x));
  double sum = 0.5;
  for (int j = 1; j < 64; ++j) {
    const double s = std::sinh(j * h / 2), exponent = 2 * x * s * s;
    if (exponent > 40) break;
    sum += std::exp(-exponent) * std::cosh(order * j * h);
  }
  return sum * h;
}
// K_n(x), or exp(x) K_n(x)
HOST_DEVICE inline double bessel_k(int n, double x, bool scaled) {
  if (!(x >= 0)) return kNaN<double>;
  if (x == 0) return kInfinity<double>;
  if (x > 1) return integral_of_bessel_k(n, x) * (scaled ? 1 : std::exp(-x));
  const BesselSums s = bessel_sums(n, x * x / 4);
  const double l = std::log(x / 2);
  const double value =
      n ? 1 / x + x / 2 * (l * s.plain - s.weighted / 2) : s.weighted / 2 - l * s.plain;
  return value * (scaled ? std::exp(x) : 1);
}

// J_n(x) and Y_n(x) for x > 0
struct BesselPair {
  double j, y;
};
HOST_DEVICE inline BesselPair bessel_near(int n, double x) {  // x <= 2
  const BesselSums s = bessel_sums(n, -x * x / 4);
  const double power = n ? x / 2 : 1, j = power * s.plain;
  const double y = 2 * std::log(x / 2) * j - power * s.weighted - (n ? 2 / x : 0);
  return {j, y / kPi<double>};
}
// From order 72 down by J_(k-1) = 2 k / x J_k - J_(k+1), which is stable in this direction; then
// 1 = J_0 + 2 (J_2 + J_4 + ...) gives the scale, and Neumann's series Y_0 and its derivative.
HOST_DEVICE inline BesselPair bessel_middle(int n, double x) {  // 2 < x <= 25
  double above = 0, here = 1e-100, total = 0, even = 0, odd = 0;
  for (int k = 72; k > 0; --k) {  // here: J_k
    const int half = k / 2;
    const double sign = half % 2 ? -1 : 1;
    if (k % 2 == 0) {
      total += 2 * here;
      even += sign * here / half;
    } else {
      odd -= sign * here * (1.0 / (half + 1) + (half ? 1.0 / half : 0));
    }
    const double below = 2 * k / x * here - above;
    above = here;
    here = below;
  }
  total += here;
  const double j0 = here / total, j1 = above / total, l = std::log(x / 2) + kEuler;
  if (n) return {j1, 2 / kPi<double> * (l * j1 - j0 / x + odd / total)};
  return {j0, 2 / kPi<double> * (l * j0 - 2 * even / total)};
}
// Hankel's expansion (DLMF 10.17)
HOST_DEVICE inline BesselPair bessel_far(int n, double x) {  // 25 < x
  double term = 1, p = 1, q = 0;
  for (int k = 1; k <= 24; ++k) {
    term *= (4 * n - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
    const double part = k % 4 < 2 ? term : -term;
    (k % 2 ? q : p) += part;
  }
  const double s = std::sin(x), c = std::cos(x), size = 1 / std::sqrt(kPi<double> * x);
  const double cosine = n ? s - c : c + s, sine = n ? -(s + c) : s - c;  // of x - (2n + 1) pi / 4
  return {size * (p * cosine - q * sine), size * (p * sine + q * cosine)};
}
HOST_DEVICE inline BesselPair bessel_pair(int n, double x) {
  return x <= 2 ? bessel_near(n, x) : x <= 25 ? bessel_middle(n, x) : bessel_far(n, x);
}
HOST_DEVICE inline double bessel_j(int n, double x) {
  if (x == 0) return n ? x : 1;
  const double j = bessel_pair(n, std::fabs(x)).j;
  return n && x < 0 ? -j : j;
}
HOST_DEVICE inline double bessel_y(int n, double x) {
  if (!(x >= 0)) return kNaN<double>;
  return x == 0 ? -kInfinity<double> : bessel_pair(n, x).y;
}
HOST_DEVICE inline double spherical_bessel_j0(double x) {
  if (x == 0) return 1;
  return std::fabs(x) == kInfinity<double> ? 0 : std::sin(x) / x;
}

HOST_DEVICE inline double airy_ai(double x) {
  if (x > 1.5) {
    const double zeta = 2 * x * std::sqrt(x) / 3;
    return std::sqrt(x / 3) * std::exp(-zeta) * integral_of_bessel_k(1. / 3, zeta) / kPi<double>;
  }
  if (x >= -10) {  // the Taylor series of y'' = x y around the nearest integer
    const int node = static_cast<int>(std::floor(x + 0.5));
    static constexpr double known[][2] = {
        {0.0402412384864431907, 0.996265044132790056},
        {-0.0221337215473414037, -0.975663980926331595},
        {-0.0527050503563862026, 0.935560938198306551},
        {0.184280835250505637, -0.771008168410126548},
        {-0.329145173629823105, 0.345935487281342895},
        {0.35076100902411432, 0.327192818554443137},
        {-0.0702655329492895151, -0.79062857536858138},
        {-0.378814293677658074, 0.314583769216598814},
        {0.227407428201685576, 0.618259020741691041},
        {0.535560883292352119, -0.0101605671166452094},
        {0.355028053887817239, -0.258819403792806798},
        {0.135292416312881416, -0.159147441296793213},
        {0.0349241304232743791, -0.0530903844336536317}};  // Ai and its derivative at the integers
                                                           // from -10 on
    const double h = x - node;
    double before = 0, a = known[node + 10][0], b = known[node + 10][1], power = h;
    double sum = a + b * h;
    for (int k = 0; k < 26; ++k) {
      const double next = (node * a + before) / ((k + 1) * (k + 2));
      before = a;
      a = b;
      b = next;
      power *= h;
      sum += next * power;
    }
    return sum;
  }
  const double z = -x, zeta = 2 * z * std::sqrt(z) / 3;  // DLMF 9.7.9
  double term = 1, p = 1, q = 0;
  for (int k = 1; k <= 24; ++k) {
    term *= (6 * k - 5) * double((6 * k - 3) * (6 * k - 1)) / (216.0 * k * (2 * k - 1) * zeta);
    const double part = k % 4 < 2 ? term : -term;
    (k % 2 ? q : p) += part;
  }
  const double s = std::sin(zeta), c = std::cos(zeta);
  return ((c + s) * p + (s - c) * q) / std::sqrt(2 * kPi<double> * std::sqrt(z));
}

}  // namespace rushlight
