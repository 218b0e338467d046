// The loops of kernels/pointwise/exponential.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/exponential.h"

#include "loops.h"

namespace rushlight {

void append_exponential_loops(PointwiseTable& table) { append_loops(table, ExponentialOps{}); }

}  // namespace rushlight
