// Running joins over long lines. A line is cut into parts, a block each: one pass makes the total
// of every part, one block a line makes running totals of them, and the last pass runs through each
// part from what came before it. How a line is cut depends on sizes alone, so results repeat.
#pragma once
#include "device.h"

namespace rushlight::gpu {

template <class T>
struct Running {
  T mine, all;  // up to this thread, and of the whole block
};

// The running join() over the threads of a block, in their order; `shared` has room for one T a
// warp, and is free again when the call returns.
template <class T, class Join>
__device__ Running<T> block_scan(T v, Join join, T* shared) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  for (int by = 1; by < kWarp; by *= 2) {
    const T before = shuffle_up(v, by);
    if (lane >= by) v = join(before, v);
  }
  if (lane == kWarp - 1) shared[warp] = v;
  __syncthreads();
  if (warp == 0) {
    T total = v;
    if (lane < warps) total = shared[lane];
    for (int by = 1; by < warps; by *= 2) {
      const T before = shuffle_up(total, by);
      if (lane >= by) total = join(before, total);
    }
    if (lane < warps) shared[lane] = total;
  }
  __syncthreads();
  if (warp > 0) v = join(shared[warp - 1], v);
  const T all = shared[warps - 1];
  __syncthreads();
  return {v, all};
}

// Calls store(i, the running join of load(begin) .. load(i)) for the elements of one part, by all
// threads of a block; `before` is what came before them, `nothing` what join() leaves alone.
template <class T, class Load, class Store, class Join>
__device__ void scan_part(Index begin, Index end, T before, T nothing, Load load, Store store,
                          Join join, T* shared) {
  for (Index tile = begin; tile < end; tile += blockDim.x) {
    const Index i = tile + threadIdx.x;
    const Running<T> now = block_scan(i < end ? load(i) : nothing, join, shared);
    if (i < end) store(i, join(before, now.mine));
    before = join(before, now.all);
  }
}
// The join of a part's elements, in each thread; here join() may take them in any order.
template <class T, class Load, class Join>
__device__ T join_part(Index begin, Index end, T nothing, Load load, Join join, T* shared) {
  T mine = nothing;
  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) mine = join(mine, load(i));
  return block_reduce(mine, join, shared);
}

// How lines are cut. Blocks enough to keep a GPU busy make further cuts useless.
struct Parts {
  Index lines, length, each, count;  // elements of a part, parts of a line
  Parts(Index lines, Index length) : lines(lines), length(length), each(length), count(1) {
    constexpr Index kEach = 4096, kEnough = 1024;
    if (lines >= kEnough || length <= kEach) return;
    each = kEach;
    count = (length + kEach - 1) / kEach;
  }
  __device__ Index begin(Index part) const { return part * each; }
  __device__ Index end(Index part) const { return part + 1 < count ? (part + 1) * each : length; }
};

// One block a line: running totals of its parts, in place.
template <class T, class Join>
__global__ void scan_totals(Index lines, Index count, T* totals, T nothing, Join join) {
  for (Index line = blockIdx.x; line < lines; line += gridDim.x) {
    T* const own = totals + line * count;
    scan_part(
        Index(0), count, nothing, nothing, [&](Index i) { return own[i]; },
        [&](Index i, T v) { own[i] = v; }, join, shared_memory<T>());
  }
}

}  // namespace rushlight::gpu
