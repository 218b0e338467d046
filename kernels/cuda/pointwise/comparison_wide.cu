// The kernels of kernels/pointwise/comparison.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/comparison.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_comparison_rows(PointwiseRow* row) {
  return fill_wide_rows(row, ComparisonOps{});
}

}  // namespace rushlight::gpu
