// The kernels of kernels/pointwise/special.h, which compute in double only.
#include "kernels.h"

namespace rushlight::gpu {

PointwiseRow* write_special_rows(PointwiseRow* to) { return write_wide_rows(to, SpecialOps{}); }

}  // namespace rushlight::gpu
