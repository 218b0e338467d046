// Draws by rejection, one element at a time and in double whatever the dtype: the gamma, Poisson
// and binomial laws. A changer must know: which numbers a try takes, and in which order, is
// torch's; parameters that would never let a try succeed are answered before the first one.
#include <cmath>

#include "../math/special.h"
#include "gamma_slope.h"
#include "random_engine.h"

namespace rushlight::random {
namespace {

constexpr double kHuge = 0x1p52;  // from here on counts are no longer exact

// Marsaglia and Tsang 2000; a shape below 1 is drawn one higher and scaled down.
double gamma(double shape, RandomState& s) {
  if (!(shape >= 0)) return kNaN<double>;
  if (shape == 0 || shape == kInfinity<double>) return shape;
  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - take_unit(s), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, root;
    do {
      x = take_normal(s);
      root = 1 + c * x;
    } while (root <= 0);
    const double cube = root * root * root, u = 1 - take_unit(s), square = x * x;
    if (u < 1 - 0.0331 * square * square ||
        std::log(u) < 0.5 * square + d * (1 - cube + std::log(cube)))
      return scale * d * cube;
  }
}

// Few events: arrivals until the time is over. Many: Hoermann's transformed rejection (1993).
double poisson(double rate, RandomState& s) {
  if (!(rate >= 0)) return kNaN<double>;
  if (rate == 0 || rate == kInfinity<double>) return rate;
  if (rate > kHuge) return std::floor(rate + std::sqrt(rate) * take_normal(s));
  if (rate < 10) {
    const double end = std::exp(-rate);
    double count = 0;
    for (double left = take_unit(s); left > end; left *= take_unit(s)) ++count;
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = log(rate);
  const double height = std::log(1.1239 + 1.1328 / (b - 3.4)), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = take_unit(s) - 0.5, v = take_unit(s), edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= sure) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    if (std::log(v) + height - std::log(a / (edge * edge) + b) <=
        k * log_rate - rate - lgamma(k + 1))
      return k;
  }
}

// ln k! without the terms of Stirling's formula that cancel below.
double stirling_rest(double k) {
  constexpr double kSmall[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983,
                               0.0207906721037650, 0.0166446911898211, 0.0138761288230707,
                               0.0118967099458917, 0.0104112652619720, 0.0092554621827127,
                               0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1. / 12 - (1. / 360 - 1. / 1260 / square) / square) / (k + 1);
}

// p <= 1/2. Few successes: the gaps between them. Many: Hoermann's BTRS (1993).
double rarer(double count, double p, RandomState& s) {
  if (count * p < 10) {
    const double scale = std::log1p(-p);
    double passed = 0, found = 0;
    for (;; ++found) {
      passed += std::ceil(std::log(take_unit(s)) / scale);
      if (!(passed <= count)) return found;
    }
  }
  const double deviation = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5, sure = 0.92 - 4.2 / b;
  const double odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = take_unit(s) - 0.5, v = take_unit(s), edge = 0.5 - std::fabs(u);
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

double binomial(double count, double p, RandomState& s) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (!(p == p && count == count)) return kNaN<double>;
  if (count > kHuge) {  // a normal number has the law's digits there
    const double drawn = count * p + std::sqrt(count * p * (1 - p)) * take_normal(s);
    return std::fmin(std::fmax(std::floor(drawn), 0), count);
  }
  return p <= 0.5 ? rarer(count, p, s) : count - rarer(count, 1 - p, s);
}

}  // namespace

void drawn(Law law, const View& out, const View& first, const View& second, RandomState& s) {
  dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
    const T *const a = first.as<const T>(), *const b = second.as<const T>();
    T* const to = out.as<T>();
    Patience patience;
    for (std::int64_t i = 0; i < out.numel; ++i) {
      patience.done(64);
      const double x = static_cast<double>(load(a + i)), y = static_cast<double>(load(b + i));
      const double made = law == Law::gamma      ? gamma(x, s)
                          : law == Law::poisson  ? poisson(x, s)
                          : law == Law::binomial ? binomial(x, y, s)
                                                 : gamma_slope(x, y);
      store(to + i, static_cast<Compute<T>>(made));
    }
  });
}

}  // namespace rushlight::random
