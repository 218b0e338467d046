// The kernels of kernels/pointwise/exponential.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_exponential_rows(PointwiseRow* to) { return write_rows(to, ExponentialOps{}); }

}  // namespace rushlight::gpu
