// The kernels of kernels/pointwise/bessel.h and orthogonal.h, which compute in double only.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_bessel_rows(PointwiseRow* to) {
  return write_wide_rows(write_wide_rows(to, BesselOps{}), OrthogonalOps{});
}

}  // namespace rushlight::gpu
