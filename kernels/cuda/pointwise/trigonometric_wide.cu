// The kernels of kernels/pointwise/trigonometric.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/trigonometric.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_trigonometric_rows(PointwiseRow* row) {
  return fill_wide_rows(row, TrigonometricOps{});
}

}  // namespace rushlight::gpu
