// The kernels of kernels/pointwise/comparison.h. A file of its own so that each compiles in
// seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_comparison_rows(PointwiseRow* to) { return write_rows(to, ComparisonOps{}); }

}  // namespace rushlight::gpu
