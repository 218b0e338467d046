// The kernels of kernels/pointwise/trigonometric.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_trigonometric_rows(PointwiseRow* to) {
  return write_wide_rows(to, TrigonometricOps{});
}

}  // namespace rushlight::gpu
