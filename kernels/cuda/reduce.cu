// Reductions over any dimensions: the plan of a call, and sums and products. The others
// have files of their own, for the compiler's sake.
#include "families.h"
#include "reduce_kernels.h"

namespace rushlight::gpu {
namespace {

// Dimensions sorted by the input's strides, so that a warp reads neighbours.
ReduceJob make_job(const View& out, const View& in) {
  ReduceJob job = {};
  job.out = out.data;
  job.dtype = out.dtype;
  int order[kMaxRank];
  const auto size = [](Index s) { return s < 0 ? -s : s; };
  for (int d = 0; d < in.rank; ++d) {
    int at = d;
    for (; at > 0 && size(in.strides[order[at - 1]]) > size(in.strides[d]); --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  for (int k = 0; k < in.rank; ++k) {
    const int d = order[k];
    if (out.sizes[d] == 1 && in.sizes[d] != 1)
      job.reduced.add(in.sizes[d], in.strides[d]);
    else
      job.kept.add(in.sizes[d], in.strides[d], out.strides[d]);
  }
  job.finish.count = double(job.reduced.numel);
  return job;
}

void reduce(Reduction kind, const View& out, const View& in, double parameter) {
  if (out.numel == 0) return;
  ReduceJob job = make_job(out, in);
  job.finish.parameter = parameter;
  switch (kind) {
    case Reduction::any: job.finish.kind = Finish::any; return reduce_choice(kind, job, in);
    case Reduction::all: job.finish.kind = Finish::all; return reduce_choice(kind, job, in);
    case Reduction::mean: job.finish.kind = Finish::mean; break;
    case Reduction::variance:
    case Reduction::deviation:
    case Reduction::log_sum_exp: return reduce_moments(kind, job, in);
    case Reduction::absolute_sum:
    case Reduction::euclidean:
    case Reduction::norm:
    case Reduction::absolute_maximum:
    case Reduction::absolute_minimum: return reduce_norm(kind, job, in);
    case Reduction::maximum:
    case Reduction::minimum:
    case Reduction::count: return reduce_choice(kind, job, in);
    default: break;
  }
  reduce_sums(kind, job, in);
}

}  // namespace

void reduce_sums(Reduction kind, const ReduceJob& job, const View& in) {
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    if constexpr (std::is_floating_point_v<C>)
      if (kind == Reduction::nansum) return run_reduction<NanSum<C>, C>(job, in);
    if (kind == Reduction::product)
      run_reduction<Product<C>, C>(job, in);
    else
      run_reduction<Sum<C>, C>(job, in);
  });
}

const ReduceKernels reduce_kernels = {reduce, reduce_extreme};

}  // namespace rushlight::gpu
