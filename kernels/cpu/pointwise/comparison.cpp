// The loops of kernels/pointwise/comparison.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_comparison_loops(PointwiseLoops* to) {
  return write_loops(to, ComparisonOps{});
}

}  // namespace rushlight
