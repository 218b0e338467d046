// The kernels of kernels/pointwise/loss.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_loss_rows(PointwiseRow* to) { return write_rows(to, LossOps{}); }

}  // namespace rushlight::gpu
