// The kernels of kernels/pointwise/trigonometric.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_trigonometric_rows(PointwiseRow* to) {
  return write_rows(to, TrigonometricOps{});
}

}  // namespace rushlight::gpu
