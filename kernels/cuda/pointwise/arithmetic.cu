// The kernels of kernels/pointwise/arithmetic.h that compute in float.
#include "kernels.h"
#include "kernels/pointwise/arithmetic.h"

namespace rushlight::gpu {

void append_arithmetic_rows(PointwiseTable& table) { append_rows(table, ArithmeticOps{}); }

}  // namespace rushlight::gpu
