// Extremes without their indices, and counts of what is not zero.
#include "kernels.h"

namespace rushlight::gpu {

bool reduce_choices(const ReduceJob& job, const View& in) {
  return reduce_one_of(reduction::Choices(), job, in);
}

}  // namespace rushlight::gpu
