// The kernels of kernels/pointwise/loss.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/loss.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_loss_rows(PointwiseRow* row) { return fill_wide_rows(row, LossOps{}); }

}  // namespace rushlight::gpu
