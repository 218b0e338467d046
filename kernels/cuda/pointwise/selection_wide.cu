// The kernels of kernels/pointwise/selection.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/selection.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_selection_rows(PointwiseRow* row) {
  return fill_wide_rows(row, SelectionOps{});
}

}  // namespace rushlight::gpu
