// The kernels of kernels/pointwise/arithmetic.h that compute in double and in integers.
#include "kernels.h"
#include "kernels/pointwise/arithmetic.h"

namespace rushlight::gpu {

PointwiseRow* fill_wide_arithmetic_rows(PointwiseRow* row) {
  return fill_wide_rows(row, ArithmeticOps{});
}

}  // namespace rushlight::gpu
