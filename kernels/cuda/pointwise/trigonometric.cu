// The kernels of kernels/pointwise/trigonometric.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/trigonometric.h"

namespace rushlight::gpu {

void append_trigonometric_rows(PointwiseTable& table) { append_rows(table, TrigonometricOps{}); }

}  // namespace rushlight::gpu
