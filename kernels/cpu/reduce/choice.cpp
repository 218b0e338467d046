// Extremes without their indices, and counts, for every dtype.
#include "loops.h"

namespace rushlight::reduction {

bool reduce_choices(Reduction which, Job& job, DType dtype) {
  return reduce_one_of(Choices(), which, job, dtype);
}

}  // namespace rushlight::reduction
