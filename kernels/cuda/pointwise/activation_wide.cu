// The kernels of kernels/pointwise/activation.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/activation.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_activation_rows(PointwiseRow* row) {
  return fill_wide_rows(row, ActivationOps{});
}

}  // namespace rushlight::gpu
