// Sums and products of every dtype, and the table.
#include "reduce_policies.h"

namespace rushlight::reduction {
namespace {

constexpr auto kSigned = [](auto total) {  // wrapped integers are read as signed ones
  if constexpr (std::is_same_v<decltype(total), std::uint64_t>) {
    return static_cast<std::int64_t>(total);
  } else {
    return total;
  }
};

void reduce(Reduction kind, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  if (kind < Reduction::maximum) return reduce_sum(kind, out, in);
  if (kind < Reduction::nansum) return reduce_choice(kind, out, in);
  if (kind < Reduction::absolute_sum) return reduce_moments(kind, out, in, parameter);
  reduce_norm(kind, out, in, parameter);
}

}  // namespace

void reduce_sum(Reduction kind, const View& out, const View& in) {
  const Job job(out, in, 0);
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (kind == Reduction::sum) return reduce_as<Sum<T>, T>(out, job, kSigned);
    reduce_as<Product<T>, T>(out, job, kSigned);
  });
}

}  // namespace rushlight::reduction

const rushlight::ReduceKernels rushlight::cpu_reduce = {reduction::reduce, reduction::extreme};
