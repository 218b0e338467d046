// The loops of kernels/pointwise/loss.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/loss.h"

#include "loops.h"

namespace rushlight {

void append_loss_loops(PointwiseTable& table) { append_loops(table, LossOps{}); }

}  // namespace rushlight
