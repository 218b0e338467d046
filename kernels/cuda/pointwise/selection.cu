// The kernels of kernels/pointwise/selection.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/selection.h"

namespace rushlight::gpu {

void append_selection_rows(PointwiseTable& table) { append_rows(table, SelectionOps{}); }

}  // namespace rushlight::gpu
