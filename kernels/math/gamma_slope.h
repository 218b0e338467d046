// How a draw of the gamma distribution moves with its shape at a constant quantile: the
// derivative that reparametrised samples need.
#pragma once
#include <cmath>

#include "quadrature.h"
#include "special.h"

namespace rushlight::random {

// x: the draw; a: the shape. With P(a, x) the CDF and p the density, the slope
// is -(dP/da) / p: by the power series of P where that converges at once, and otherwise by the
// integral of (ln t - digamma(a)) p(t) / p(x) over the tail on the other side of the mean.
HOST_DEVICE inline double gamma_slope(double a, double x) {
  if (!(a > 0 && x >= 0 && a < kInfinity<double> && x < kInfinity<double>)) return kNaN<double>;
  if (x == 0) return 0;
  if (a < 40 && x <= a + 1) {
    double term = x / a, psi = digamma_not_negative(a + 1), sum = 0;
    const double log_x = std::log(x);
    for (int n = 1; n < 400; ++n) {
      const double part = term * (psi - log_x);
      sum += part;
      if (std::fabs(part) < 1e-17 * std::fabs(sum)) break;
      term *= x / (a + n);
      psi += 1 / (a + n);
    }
    return sum;
  }
  const double side = x > a ? 1 : -1, psi = digamma_not_negative(a);
  const auto exponent = [&](double s) { return (a - 1) * std::log1p(side * s / x) - side * s; };
  double width = side > 0 ? 1 : x / a;  // of what counts
  while (exponent(width) > -40 && (side > 0 || width < x)) width *= 1.5;
  if (side < 0 && !(width < x)) width = x;
  const double sum = integral(
      width, 12, [&](double s) { return (std::log(x + side * s) - psi) * std::exp(exponent(s)); });
  return side * sum;
}

}  // namespace rushlight::random
