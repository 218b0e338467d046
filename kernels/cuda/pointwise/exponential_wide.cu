// The kernels of kernels/pointwise/exponential.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/exponential.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_exponential_rows(PointwiseRow* row) {
  return fill_wide_rows(row, ExponentialOps{});
}

}  // namespace rushlight::gpu
