// The kernels of kernels/pointwise/bessel.h and orthogonal.h, which compute in double only.
#include "kernels.h"
#include "kernels/pointwise/bessel.h"
#include "kernels/pointwise/orthogonal.h"

namespace rushlight::gpu {

void append_bessel_rows(PointwiseTable& table) {
  append_whole_rows(table, BesselOps{});
  append_whole_rows(table, OrthogonalOps{});
}

}  // namespace rushlight::gpu
