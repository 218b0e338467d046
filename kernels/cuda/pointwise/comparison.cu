// The kernels of kernels/pointwise/comparison.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/comparison.h"

namespace rushlight::gpu {

void append_comparison_rows(PointwiseTable& table) { append_rows(table, ComparisonOps{}); }

}  // namespace rushlight::gpu
