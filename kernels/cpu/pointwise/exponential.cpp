// The loops of kernels/pointwise/exponential.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_exponential_loops(PointwiseLoops* to) {
  return write_loops(to, ExponentialOps{});
}

}  // namespace rushlight
