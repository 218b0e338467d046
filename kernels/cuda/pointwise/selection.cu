// The kernels of kernels/pointwise/selection.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_selection_rows(PointwiseRow* to) { return write_rows(to, SelectionOps{}); }

}  // namespace rushlight::gpu
