// The kernels of kernels/pointwise/exponential.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/exponential.h"

namespace rushlight::gpu {

void append_exponential_rows(PointwiseTable& table) { append_rows(table, ExponentialOps{}); }

}  // namespace rushlight::gpu
