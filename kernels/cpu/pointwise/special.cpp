// The loops of kernels/pointwise/special.h. A file of its own so that each compiles in seconds.
#include "loops.h"

namespace rushlight {

PointwiseLoops* write_special_loops(PointwiseLoops* to) { return write_loops(to, SpecialOps{}); }

}  // namespace rushlight
