// Draws by rejection, in double: the gamma, Poisson and binomial laws, of numbers that a Source
// makes, unit() in [0, 1) and normal(). Note: which numbers a try takes, and in
// which order, is torch's on the CPU; parameters that would never let a try succeed are answered
// before the first one.
#pragma once
#include "../random.h"
#include "gamma_slope.h"

namespace rushlight::random {

inline constexpr double kHuge = 0x1p52;  // from here on counts are no longer exact

// Marsaglia and Tsang 2000; a shape below 1 is drawn one higher and scaled down.
template <class Source>
HOST_DEVICE double gamma(double shape, Source& from) {
  if (!(shape >= 0)) return kNaN<double>;
  if (shape == 0 || shape == kInfinity<double>) return shape;
  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - from.unit(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, root;
    do {
      x = from.normal();
      root = 1 + c * x;
    } while (root <= 0);
    const double cube = root * root * root, u = 1 - from.unit(), square = x * x;
    if (u < 1 - 0.0331 * square * square ||
        std::log(u) < 0.5 * square + d * (1 - cube + std::log(cube)))
      return scale * d * cube;
  }
}

// Few events: arrivals until the time is over. Many: Hoermann's transformed rejection (1993).
template <class Source>
HOST_DEVICE double poisson(double rate, Source& from) {
  if (!(rate >= 0)) return kNaN<double>;
  if (rate == 0 || rate == kInfinity<double>) return rate;
  if (rate > kHuge) return std::floor(rate + std::sqrt(rate) * from.normal());
  if (rate < 10) {
    const double end = std::exp(-rate);
    double count = 0;
    for (double left = from.unit(); left > end; left *= from.unit()) ++count;
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = log(rate);
  const double height = std::log(1.1239 + 1.1328 / (b - 3.4)), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = from.unit() - 0.5, v = from.unit(), edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= sure) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    if (std::log(v) + height - std::log(a / (edge * edge) + b) <=
        k * log_rate - rate - lgamma(k + 1))
      return k;
  }
}

// ln k! without the terms of Stirling's formula that cancel below.
HOST_DEVICE inline double stirling_rest(double k) {
  static constexpr double kSmall[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983,
                                      0.0207906721037650, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917, 0.0104112652619720, 0.0092554621827127,
                                      0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1. / 12 - (1. / 360 - 1. / 1260 / square) / square) / (k + 1);
}

// p <= 1/2. Few successes: the gaps between them. Many: Hoermann's BTRS (1993).
template <class Source>
HOST_DEVICE double rarer(double count, double p, Source& from) {
  if (count * p < 10) {
    const double scale = std::log1p(-p);
    double passed = 0, found = 0;
    for (;; ++found) {
      passed += std::ceil(std::log(from.unit()) / scale);
      if (!(passed <= count)) return found;
    }
  }
  const double deviation = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5, sure = 0.92 - 4.2 / b;
  const double odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = from.unit() - 0.5, v = from.unit(), edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / edge + b) * u + c);
    if (edge >= 0.07 && v <= sure) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_rest(mode) + stirling_rest(count - mode) - stirling_rest(k) -
                         stirling_rest(count - k);
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return k;
  }
}

template <class Source>
HOST_DEVICE double binomial(double count, double p, Source& from) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (!(p == p && count == count)) return kNaN<double>;
  if (count > kHuge) {  // a normal number has the law's digits there
    const double drawn = count * p + std::sqrt(count * p * (1 - p)) * from.normal();
    return std::fmin(std::fmax(std::floor(drawn), 0), count);
  }
  return p <= 0.5 ? rarer(count, p, from) : count - rarer(count, 1 - p, from);
}

// What `law` makes of an element's parameters.
template <Law law, class Source>
HOST_DEVICE double draw(double a, double b, Source& from) {
  if constexpr (law == Law::gamma) return gamma(a, from);
  if constexpr (law == Law::poisson) return poisson(a, from);
  if constexpr (law == Law::binomial) return binomial(a, b, from);
  if constexpr (law == Law::gamma_slope) return gamma_slope(a, b);
}

// Calls f with the law as a type's number.
template <class F>
void dispatch_law(Law law, F&& f) {
  switch (law) {
    case Law::gamma: return f(std::integral_constant<Law, Law::gamma>());
    case Law::poisson: return f(std::integral_constant<Law, Law::poisson>());
    case Law::binomial: return f(std::integral_constant<Law, Law::binomial>());
    case Law::gamma_slope: return f(std::integral_constant<Law, Law::gamma_slope>());
  }
}

}  // namespace rushlight::random
