// Norms: sums of absolute values and of their powers, and extremes of absolute values.
#include "reduce_kernels.h"

namespace rushlight::gpu {

void reduce_norm(Reduction kind, ReduceJob job, const View& in) {
  compute_floating(in.dtype, [&]<class C>(Type<C>) {
    switch (kind) {
      case Reduction::absolute_sum: return run_reduction<AbsoluteSum<C>, C>(job, in);
      case Reduction::absolute_maximum: return run_reduction<AbsoluteExtreme<C, true>, C>(job, in);
      case Reduction::absolute_minimum: return run_reduction<AbsoluteExtreme<C, false>, C>(job, in);
      case Reduction::euclidean:
        job.finish.kind = Finish::root;
        return run_reduction<SquareSum<C>, C>(job, in);
      default: job.finish.kind = Finish::power_root; return run_reduction<PowerSum<C>, C>(job, in);
    }
  });
}

}  // namespace rushlight::gpu
