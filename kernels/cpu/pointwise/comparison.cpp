// The loops of kernels/pointwise/comparison.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/comparison.h"

#include "loops.h"

namespace rushlight {

void append_comparison_loops(PointwiseTable& table) { append_loops(table, ComparisonOps{}); }

}  // namespace rushlight
