// A stable radix sort of one long run: CUB's on a device (radix_sort.cu), the host's in the
// emulated build, which has no CUB.
#pragma once
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

// Two buffers of n, of which `now` holds what is meant.
template <class T>
struct Buffers {
  T *now, *other;
};

// Sorts by the lowest `bits` of the keys, lowest first, the indices with them; equal keys keep
// their order. Either buffer may hold the result.
void radix_sort(Buffers<std::uint64_t>& keys, Buffers<Index>& indices, Index n, int bits);

}  // namespace rushlight::gpu
