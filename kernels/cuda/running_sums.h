// Running sums of counts in device memory, in place (scan.cu).
#pragma once
#include "../strided.h"

namespace rushlight::gpu {

void running_sums(Index* counts, Index n);

}  // namespace rushlight::gpu
