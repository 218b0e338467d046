// Strided: the items of a shape as offsets into several operands. Lines: all rows along one
// dimension of several views of the same other sizes. Made on the host, for the loops of all
// devices.
#pragma once
#include "view.h"

namespace rushlight {

using Index = std::int64_t;

// A call, not inlined: for tensors of more than 2^31 elements alone, in every kernel.
HOST_DEVICE __attribute__((noinline)) inline Index divided(Index a, Index by) { return a / by; }

// Items 0..numel of a shape as offsets into N operands. Made on the host, dimensions merged where
// all operands allow it; innermost first.
template <int N>
struct Strided {
  int rank = 0;
  Index numel = 1;
  Index sizes[kMaxRank] = {};
  Index strides[N][kMaxRank] = {};

  // The next dimension outwards.
  template <class... Steps>
  void add(Index size, Steps... steps) {
    static_assert(sizeof...(Steps) == N);
    const Index step[] = {steps...};
    add_array(size, step);
  }
  void add_array(Index size, const Index* step) {
    numel *= size;
    if (size == 1) return;
    bool merges = rank > 0;
    for (int k = 0; k < N && merges; ++k)
      merges = step[k] == strides[k][rank - 1] * sizes[rank - 1];
    if (merges) {
      sizes[rank - 1] *= size;
      return;
    }
    sizes[rank] = size;
    for (int k = 0; k < N; ++k) strides[k][rank] = step[k];
    ++rank;
  }
  bool is_dense(int k) const {  // in this order
    return rank == 0 || (rank == 1 && strides[k][0] == 1);
  }
  // Calls f(dimension, the item's index along it) for each dimension.
  template <class F>
  HOST_DEVICE void walk(Index item, F f) const {
    if (rank == 1) return f(0, item);
    if (numel <= 0x7fffffff) {  // the same for all threads; a 64-bit division is ten times slower
      auto rest = static_cast<std::uint32_t>(item);
      for (int d = 0; d < rank; ++d) {
        const auto size = static_cast<std::uint32_t>(sizes[d]);
        f(d, Index(rest % size));
        rest /= size;
      }
      return;
    }
    for (int d = 0; d < rank; ++d) {
      const Index next = divided(item, sizes[d]);
      f(d, item - next * sizes[d]);
      item = next;
    }
  }
  // The item's offsets in the first M operands.
  template <int M>
  HOST_DEVICE void at(Index item, Index (&offsets)[M]) const {
    static_assert(M <= N);
    for (int k = 0; k < M; ++k) offsets[k] = 0;
    walk(item, [&](int d, Index index) {
      for (int k = 0; k < M; ++k) offsets[k] += index * strides[k][d];
    });
  }
  // In operand k, for k unknown at compile time: an array of all would be local memory.
  HOST_DEVICE Index offset(int k, Index item) const {
    Index sum = 0;
    walk(item, [&](int d, Index index) { sum += index * strides[k][d]; });
    return sum;
  }
};

template <int N>
struct Lines {
  Strided<N> starts;  // the first element of each row
  Index length = 1, step[N];  // of a row, and its strides in the operands

  template <class... Views>
  Lines(int dim, const View& first, const Views&... others) {
    static_assert(1 + sizeof...(Views) == N);
    const View* views[] = {&first, &others...};
    for (int k = 0; k < N; ++k) step[k] = first.rank ? views[k]->strides[dim] : 1;
    if (first.rank) length = first.sizes[dim];
    for (int d = first.rank - 1; d >= 0; --d) {
      if (d == dim) continue;
      Index steps[N];
      for (int k = 0; k < N; ++k) steps[k] = views[k]->strides[d];
      starts.add_array(first.sizes[d], steps);
    }
  }
};

}  // namespace rushlight
