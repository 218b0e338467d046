// A matrix with any strides: one of a batch; and what a product of such is worth.
#pragma once
#include <cstdint>

namespace rushlight {

inline constexpr std::int64_t kWorthwhile = 250'000;  // products that pay for waking a thread

inline std::int64_t rounded_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

template <class T>
struct StridedMatrix {
  T* data;
  std::int64_t rows, cols, row_stride, col_stride;
};
template <class T>
StridedMatrix<T> transposed(const StridedMatrix<T>& m) {
  return {m.data, m.cols, m.rows, m.col_stride, m.row_stride};
}

}  // namespace rushlight
