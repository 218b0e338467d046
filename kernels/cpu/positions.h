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
  // How many positions lie on the line from here on, and the step of operand k along it.
  std::int64_t left() const { return rank_ ? sizes_[rank_ - 1] - index_[rank_ - 1] : 1; }
  std::int64_t step(int k) const { return rank_ ? strides_[k][rank_ - 1] : 0; }
  void skip(std::int64_t n) {  // 0 < n <= left()
    for (int k = 0; k < N; ++k) offset[k] += (n - 1) * step(k);
    if (rank_) index_[rank_ - 1] += n - 1;
    next();
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
