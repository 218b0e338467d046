// The kernels of kernels/pointwise/selection.h. A file of its own so that each compiles in seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_selection_rows(PointwiseRow* to) { return write_rows(to, SelectionOps{}); }

}  // namespace rushlight::gpu
