// The kernels of kernels/pointwise/activation.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/activation.h"

namespace rushlight::gpu {

void append_activation_rows(PointwiseTable& table) { append_rows(table, ActivationOps{}); }

}  // namespace rushlight::gpu
