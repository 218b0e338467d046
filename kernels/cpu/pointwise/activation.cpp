// The loops of kernels/pointwise/activation.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/activation.h"

#include "loops.h"

namespace rushlight {

void append_activation_loops(PointwiseTable& table) { append_loops(table, ActivationOps{}); }

}  // namespace rushlight
