// Means, variances and logsumexp: those that need a first pass walk twice, which costs less than it
// saves in accuracy.
#include "reduce_policies.h"

namespace rushlight::reduction {
namespace {

// A first pass whose results are numbered as the outputs are.
template <class P, class T, class Map>
std::vector<double> first_pass(const Job& job, Map&& map) {
  std::vector<double> found(static_cast<std::size_t>(job.kept.numel));
  run<P, T>(job, [&](std::int64_t from, double* totals, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) found[std::size_t(from + i)] = map(totals[i]);
  });
  return found;
}

template <class T>
void variance(Reduction kind, const View& out, Job& job) {
  const auto n = static_cast<double>(job.reduced.numel);
  const auto means = first_pass<Sum<T>, T>(job, [=](double sum) { return sum / n; });
  job.center = means.data();
  const double divisor = std::max(0., n - job.parameter);
  const bool root = kind == Reduction::deviation;
  reduce_as<Deviation<T>, T>(out, job, [=](double squares) {
    return root ? std::sqrt(squares / divisor) : squares / divisor;
  });
}

template <class T>
void log_sum_exp(const View& out, Job& job) {
  const auto maxima =
      first_pass<Extreme<T, true>, T>(job, [](double m) { return std::isinf(m) ? 0 : m; });
  job.center = maxima.data();
  run<Exponentials<T>, T>(job, [&](std::int64_t from, double* sums, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      sums[i] = std::log(sums[i]) + maxima[std::size_t(from + i)];
    write(out, job.kept, from, sums, n, [](double y) { return y; });
  });
}

}  // namespace

void reduce_moments(Reduction kind, const View& out, const View& in, double parameter) {
  Job job(out, in, parameter);
  dispatch_floating(in.dtype, [&]<class T>(Type<T>) {
    const auto n = static_cast<double>(job.reduced.numel);
    switch (kind) {
      case Reduction::nansum:
        return reduce_as<NanSum<T>, T>(out, job, [](double sum) { return sum; });
      case Reduction::mean:
        return reduce_as<Sum<T>, T>(out, job, [=](double sum) { return sum / n; });
      case Reduction::log_sum_exp: return log_sum_exp<T>(out, job);
      default: return variance<T>(kind, out, job);
    }
  });
}

}  // namespace rushlight::reduction
