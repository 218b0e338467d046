// The kernels of kernels/pointwise/activation.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_activation_rows(PointwiseRow* to) { return write_rows(to, ActivationOps{}); }

}  // namespace rushlight::gpu
