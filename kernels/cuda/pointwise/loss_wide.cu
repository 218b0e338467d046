// The kernels of kernels/pointwise/loss.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_loss_rows(PointwiseRow* to) { return write_wide_rows(to, LossOps{}); }

}  // namespace rushlight::gpu
