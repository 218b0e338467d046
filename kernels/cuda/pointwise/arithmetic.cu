// The kernels of kernels/pointwise/arithmetic.h that compute in float.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_arithmetic_rows(PointwiseRow* to) { return write_rows(to, ArithmeticOps{}); }

}  // namespace rushlight::gpu
