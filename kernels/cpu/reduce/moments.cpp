// Variances and logsumexp: a second pass costs less than it saves in accuracy.
#include "loops.h"

namespace rushlight::reduction {

bool reduce_moments(Reduction which, Job& job, DType dtype) {
  return reduce_one_of(Moments(), which, job, dtype);
}

}  // namespace rushlight::reduction
