// The loops of kernels/pointwise/trigonometric.h. A file of its own so that each compiles in
// seconds.
#include "kernels/pointwise/trigonometric.h"

#include "loops.h"

namespace rushlight {

void append_trigonometric_loops(PointwiseTable& table) { append_loops(table, TrigonometricOps{}); }

}  // namespace rushlight
