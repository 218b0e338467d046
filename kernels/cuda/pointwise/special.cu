// The kernels of kernels/pointwise/special.h, most of which compute in double only.
#include "kernels.h"
#include "kernels/pointwise/special.h"

namespace rushlight::gpu {

void append_special_rows(PointwiseTable& table) { append_whole_rows(table, SpecialOps{}); }

}  // namespace rushlight::gpu
