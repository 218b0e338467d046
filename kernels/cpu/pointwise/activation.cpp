// The loops of kernels/pointwise/activation.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_activation_loops(PointwiseLoops* to) {
  return write_loops(to, ActivationOps{});
}

}  // namespace rushlight
