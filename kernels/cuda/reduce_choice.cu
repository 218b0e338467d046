// Extremes without their places, and counts of what is not zero.
#include "reduce_kernels.h"

namespace rushlight::gpu {

void reduce_choice(Reduction kind, const ReduceJob& job, const View& in) {
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    switch (kind) {
      case Reduction::maximum: return run_reduction<Extreme<C, true>, C>(job, in);
      case Reduction::minimum: return run_reduction<Extreme<C, false>, C>(job, in);
      default: return run_reduction<Count<C>, C>(job, in);
    }
  });
}

}  // namespace rushlight::gpu
