// The loops of kernels/pointwise/special.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/special.h"

#include "loops.h"

namespace rushlight {

void append_special_loops(PointwiseTable& table) { append_loops(table, SpecialOps{}); }

}  // namespace rushlight
