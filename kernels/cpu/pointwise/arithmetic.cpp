// The loops of kernels/pointwise/arithmetic.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_arithmetic_loops(PointwiseLoops* to) {
  return write_loops(to, ArithmeticOps{});
}

}  // namespace rushlight
