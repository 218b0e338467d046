// The kernels of kernels/pointwise/arithmetic.h that compute in double and in whole numbers.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_wide_arithmetic_rows(PointwiseRow* to) {
  return write_wide_rows(to, ArithmeticOps{});
}

}  // namespace rushlight::gpu
