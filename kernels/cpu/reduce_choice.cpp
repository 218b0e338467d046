// Extremes without their places, and counts, for every dtype.
#include "reduce_policies.h"

namespace rushlight::reduction {

void reduce_choice(Reduction kind, const View& out, const View& in) {
  const Job job(out, in, 0);
  const auto same = [](auto total) { return total; };
  const std::int64_t all = job.reduced.numel;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (kind == Reduction::maximum) return reduce_as<Extreme<T, true>, T>(out, job, same);
    if (kind == Reduction::minimum) return reduce_as<Extreme<T, false>, T>(out, job, same);
    reduce_as<Count<T>, T>(out, job, [&](std::int64_t n) -> std::int64_t {
      return kind == Reduction::any ? n > 0 : kind == Reduction::all ? n == all : n;
    });
  });
}

}  // namespace rushlight::reduction
