// The kernels of kernels/pointwise/selection.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_selection_rows(PointwiseRow* to) {
  return write_wide_rows(to, SelectionOps{});
}

}  // namespace rushlight::gpu
