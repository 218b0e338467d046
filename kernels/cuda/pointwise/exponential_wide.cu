// The kernels of kernels/pointwise/exponential.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_exponential_rows(PointwiseRow* to) {
  return write_wide_rows(to, ExponentialOps{});
}

}  // namespace rushlight::gpu
