// The loops of kernels/pointwise/arithmetic.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/arithmetic.h"

#include "loops.h"

namespace rushlight {

void append_arithmetic_loops(PointwiseTable& table) { append_loops(table, ArithmeticOps{}); }

}  // namespace rushlight
