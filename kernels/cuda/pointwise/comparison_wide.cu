// The kernels of kernels/pointwise/comparison.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_comparison_rows(PointwiseRow* to) {
  return write_wide_rows(to, ComparisonOps{});
}

}  // namespace rushlight::gpu
