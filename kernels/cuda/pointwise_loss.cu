// The kernels of kernels/pointwise/loss.h. A file of its own so that each compiles in seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_loss_rows(PointwiseRow* to) { return write_rows(to, LossOps{}); }

}  // namespace rushlight::gpu
