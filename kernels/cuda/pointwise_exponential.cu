// The kernels of kernels/pointwise/exponential.h. A file of its own so that each compiles in
// seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_exponential_rows(PointwiseRow* to) { return write_rows(to, ExponentialOps{}); }

}  // namespace rushlight::gpu
