// The loops of kernels/pointwise/selection.h. A file of its own so that each compiles in seconds.
#include "kernels/pointwise/selection.h"

#include "loops.h"

namespace rushlight {

void append_selection_loops(PointwiseTable& table) { append_loops(table, SelectionOps{}); }

}  // namespace rushlight
