// The loops of kernels/pointwise/trigonometric.h. A file of its own so that each compiles in
// seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_trigonometric_loops(PointwiseLoops* to) {
  return write_loops(to, TrigonometricOps{});
}

}  // namespace rushlight
