// The loops of kernels/pointwise/bessel.h and orthogonal.h. A file of its own so that each compiles
// in seconds.
#include "kernels/pointwise/bessel.h"

#include "kernels/pointwise/orthogonal.h"
#include "loops.h"

namespace rushlight {

void append_bessel_loops(PointwiseTable& table) {
  append_loops(table, BesselOps{});
  append_loops(table, OrthogonalOps{});
}

}  // namespace rushlight
