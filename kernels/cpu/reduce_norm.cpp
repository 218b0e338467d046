// Norms: sums of absolute values and their powers, and extremes of absolute values.
#include "reduce_policies.h"

namespace rushlight::reduction {

void reduce_norm(Reduction kind, const View& out, const View& in, double parameter) {
  const Job job(out, in, parameter);
  const auto same = [](double total) { return total; };
  dispatch_floating(in.dtype, [&]<class T>(Type<T>) {
    switch (kind) {
      case Reduction::absolute_sum: return reduce_as<AbsoluteSum<T>, T>(out, job, same);
      case Reduction::euclidean:
        return reduce_as<SquareSum<T>, T>(out, job, [](double sum) { return std::sqrt(sum); });
      case Reduction::absolute_maximum:
        return reduce_as<AbsoluteExtreme<T, true>, T>(out, job, same);
      case Reduction::absolute_minimum:
        return reduce_as<AbsoluteExtreme<T, false>, T>(out, job, same);
      default:
        return reduce_as<PowerSum<T>, T>(out, job,
                                         [=](double sum) { return std::pow(sum, 1 / parameter); });
    }
  });
}

}  // namespace rushlight::reduction
