// The kernels of kernels/pointwise/arithmetic.h. A file of its own so that each compiles in
// seconds.
#include "pointwise_kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_arithmetic_rows(PointwiseRow* to) { return write_rows(to, ArithmeticOps{}); }

}  // namespace rushlight::gpu
