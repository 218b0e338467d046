// Walking positions of a shape in row-major order, with the offsets of several strided operands.
#pragma once
#include <array>

#include "../view.h"

namespace rushlight {

template <int N>
class Positions {
 public:
  // strides[k] belongs to operand k. Starts at the flat position `start`.
  Positions(int rank, const std::int64_t* sizes, std::array<const std::int64_t*, N> strides,
            std::int64_t start = 0)
      : rank_(rank), sizes_(sizes), strides_(strides) {
    for (int d = rank - 1; d >= 0 && start; --d) {
      index_[d] = start % sizes[d];
      start /= sizes[d];
      for (int k = 0; k < N; ++k) offset[k] += index_[d] * strides[k][d];
    }
  }
  void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      for (int k = 0; k < N; ++k) offset[k] += strides_[k][d];
      if (++index_[d] < sizes_[d]) return;
      for (int k = 0; k < N; ++k) offset[k] -= index_[d] * strides_[k][d];
      index_[d] = 0;
    }
  }
  std::int64_t operator[](int d) const { return index_[d]; }
  std::int64_t offset[N] = {};

 private:
  int rank_;
  const std::int64_t* sizes_;
  std::array<const std::int64_t*, N> strides_;
  std::int64_t index_[kMaxRank] = {};
};

}  // namespace rushlight
