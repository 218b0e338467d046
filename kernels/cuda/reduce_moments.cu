// Variance, deviation and log-sum-exp: two passes over the input, the second around what the first
// has left, the mean or the largest value.
#include "reduce_kernels.h"

namespace rushlight::gpu {

void reduce_moments(Reduction kind, ReduceJob job, const View& in) {
  const bool exponentials = kind == Reduction::log_sum_exp;
  const Scratch<double> centers(job.kept.numel, "reduce");
  ReduceJob before = job;
  before.to_center = centers.data();
  before.finish.kind = exponentials ? Finish::finite : Finish::mean;
  if (exponentials)
    reduce_choice(Reduction::maximum, before, in);
  else
    reduce_sums(Reduction::sum, before, in);
  job.center = centers.data();
  job.finish.kind = exponentials                  ? Finish::log_sum
                    : kind == Reduction::variance ? Finish::variance
                                                  : Finish::deviation;
  compute_floating(in.dtype, [&]<class C>(Type<C>) {
    if (exponentials)
      run_reduction<Exponentials<C>, C>(job, in);
    else
      run_reduction<Deviation<C>, C>(job, in);
  });
}

}  // namespace rushlight::gpu
