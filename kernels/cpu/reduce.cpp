// The reductions that every dtype has, and the table.
#include "reduce_policies.h"

namespace rushlight::reduction {
namespace {

constexpr auto kSame = [](auto total) { return total; };
constexpr auto kSigned = [](auto total) {  // wrapped integers are read as signed ones
  if constexpr (std::is_same_v<decltype(total), std::uint64_t>) {
    return static_cast<std::int64_t>(total);
  } else {
    return total;
  }
};

void reduce(Reduction kind, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  if (kind < Reduction::nansum) return reduce_any_dtype(kind, out, in);
  if (kind < Reduction::absolute_sum) return reduce_moments(kind, out, in, parameter);
  reduce_norm(kind, out, in, parameter);
}

}  // namespace

void reduce_any_dtype(Reduction kind, const View& out, const View& in) {
  const Job job(out, in, 0);
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    switch (kind) {
      case Reduction::sum: return reduce_as<Sum<T>, T>(out, job, kSigned);
      case Reduction::product: return reduce_as<Product<T>, T>(out, job, kSigned);
      case Reduction::maximum: return reduce_as<Extreme<T, true>, T>(out, job, kSame);
      case Reduction::minimum: return reduce_as<Extreme<T, false>, T>(out, job, kSame);
      default: break;
    }
    const std::int64_t all = job.reduced.numel;
    reduce_as<Count<T>, T>(out, job, [&](std::int64_t n) -> std::int64_t {
      return kind == Reduction::any ? n > 0 : kind == Reduction::all ? n == all : n;
    });
  });
}

}  // namespace rushlight::reduction

const rushlight::ReduceKernels rushlight::cpu_reduce = {reduction::reduce, reduction::extreme};
