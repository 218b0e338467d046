// How a draw of the beta distribution moves with its first parameter at a constant quantile: the
// derivative that reparametrised samples of Beta and Dirichlet need.
#pragma once
#include <cmath>

#include "quadrature.h"
#include "special.h"

namespace rushlight {

// x: the draw; a: the first parameter; total: the sum of both. With I(x) the CDF and p the density,
// -(dI/da) / p / (1 - x), the second parameter held fixed. It is the integral of
// (ln t - E ln t) p(t) / p(x) over the tail on the side of x away from the mean, in steps s of
// ln(t / (1 - t)): there the integrand has no pole and falls from its start.
HOST_DEVICE inline double beta_slope(double x, double a, double total) {
  const double b = total - a;
  if (!(a > 0 && b > 0 && total < kInfinity<double> && x >= 0 && x <= 1)) return kNaN<double>;
  const double mean_log = digamma_not_negative(a) - digamma_not_negative(total);
  if (x == 0) return 0;
  if (x == 1) return -mean_log / b;
  const double side = x * total > a ? 1 : -1, log_x = std::log(x), log_rest = std::log1p(-x);
  double ratio, rest_ratio;  // ln(t / x) and ln((1 - t) / (1 - x)) after a step
  const auto exponent = [&](double s) {
    if (side > 0) {
      ratio = -std::log1p((1 - x) * std::expm1(-s));
      rest_ratio = ratio - s;
    } else {
      rest_ratio = -std::log1p(x * std::expm1(-s));
      ratio = rest_ratio - s;
    }
    return a * ratio + b * rest_ratio;
  };
  // What counts: where p falls to exp(-36), by Newton's steps from the right, where ln p is linear.
  const double height = a * log_x + b * log_rest, start = side * (log_x - log_rest);
  double width = (36 - height) / (side > 0 ? b : a) - start;
  for (int n = 0; n < 60; ++n) {
    const double fall = -exponent(width);
    if (fall < 40) break;
    width -= (fall - 36) / (side * (total * x * std::exp(ratio) - a));
  }
  const auto integrand = [&](double s) {
    const double weight = std::exp(exponent(s));
    return (log_x + ratio - mean_log) * weight;
  };
  const double bend = width < 12 ? width : 12;  // from there on ln p is linear
  double sum = integral(bend, 8, integrand);
  if (bend < width) sum += integral(width - bend, 6, [&](double s) { return integrand(bend + s); });
  return x * side * sum;
}

}  // namespace rushlight
