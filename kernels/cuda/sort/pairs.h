// Sorting as the families use it (pairs.cu).
#pragma once
#include <bit>

#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

// Sorts each of `lines` runs of `length` keys, lowest first, and their indices with them; equal
// keys keep their order. No key has more than `bits` bits.
void sort_pairs(std::uint64_t* keys, Index* indices, Index lines, Index length, int bits = 64);
// The bits of keys below `count`.
inline int bits_below(Index count) {
  return count > 1 ? std::bit_width(static_cast<std::uint64_t>(count - 1)) : 1;
}

}  // namespace rushlight::gpu
