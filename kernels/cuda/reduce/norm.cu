// Norms: sums of absolute values and of their powers, and extremes of absolute values.
#include "kernels.h"

namespace rushlight::gpu {

bool reduce_norms(const ReduceJob& job, const View& in) {
  return reduce_one_of(reduction::Norms(), job, in);
}

}  // namespace rushlight::gpu
