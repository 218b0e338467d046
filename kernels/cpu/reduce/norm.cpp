// Norms: sums of absolute values and their powers, and extremes of absolute values.
#include "loops.h"

namespace rushlight::reduction {

bool reduce_norms(Reduction which, Job& job, DType dtype) {
  return reduce_one_of(Norms(), which, job, dtype);
}

}  // namespace rushlight::reduction
