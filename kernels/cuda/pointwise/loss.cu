// The kernels of kernels/pointwise/loss.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/loss.h"

namespace rushlight::gpu {

void append_loss_rows(PointwiseTable& table) { append_rows(table, LossOps{}); }

}  // namespace rushlight::gpu
