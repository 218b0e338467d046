// A matrix with any strides: one of a batch.
#pragma once
#include <cstdint>

namespace rushlight {

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
