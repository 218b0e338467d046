// The kernels of kernels/pointwise/trigonometric.h. A file of its own so that each compiles in
// seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_trigonometric_rows(PointwiseRow* to) {
  return write_rows(to, TrigonometricOps{});
}

}  // namespace rushlight::gpu
