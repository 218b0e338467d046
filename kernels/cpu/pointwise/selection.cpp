// The loops of kernels/pointwise/selection.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_selection_loops(PointwiseLoops* to) {
  return write_loops(to, SelectionOps{});
}

}  // namespace rushlight
