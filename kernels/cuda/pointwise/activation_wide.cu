// The kernels of kernels/pointwise/activation.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_activation_rows(PointwiseRow* to) {
  return write_wide_rows(to, ActivationOps{});
}

}  // namespace rushlight::gpu
