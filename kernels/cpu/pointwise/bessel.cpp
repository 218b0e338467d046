// The loops of kernels/pointwise/bessel.h and orthogonal.h. A file of its own so that each compiles
// in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_bessel_loops(PointwiseLoops* to) {
  return write_loops(write_loops(to, BesselOps{}), OrthogonalOps{});
}

}  // namespace rushlight
