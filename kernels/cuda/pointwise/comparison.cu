// The kernels of kernels/pointwise/comparison.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_comparison_rows(PointwiseRow* to) { return write_rows(to, ComparisonOps{}); }

}  // namespace rushlight::gpu
