// The loops of kernels/pointwise/loss.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_loss_loops(PointwiseLoops* to) { return write_loops(to, LossOps{}); }

}  // namespace rushlight
