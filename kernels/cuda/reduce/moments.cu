// Variances and logsumexp: two passes over the input, the second around the mean or the maximum.
#include "kernels.h"

namespace rushlight::gpu {

bool reduce_moments(const ReduceJob& job, const View& in) {
  return reduce_one_of(reduction::Moments(), job, in);
}

}  // namespace rushlight::gpu
