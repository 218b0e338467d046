// Sorting as the families use it (sort_pairs.cu).
#pragma once
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

// Sorts each of `lines` runs of `length` keys, lowest first, and their indices with them; equal
// keys keep their order.
void sort_pairs(std::uint64_t* keys, Index* indices, Index lines, Index length);

}  // namespace rushlight::gpu
