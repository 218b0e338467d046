// Depthwise correlation of a plane, several rows at once, in AVX-512: a row of the input meets the
// taps of all of them while it is in registers.
#pragma once
#include <cstdint>

namespace rushlight::conv {

template <class T>
struct PlaneRowsArgs {
  const T* x;              // of column 0 of the output
  std::int64_t at, row;  // the first row that is read, which may lie outside; elements of a row
  std::int64_t first, end;  // which of the rows from there on lie inside
  const int* off;  // of each tap of a row
  std::int64_t kw;
  const T* w;  // [kh][kw]
  T bias;
  std::int64_t rows, columns;  // of the output
  T* y;
  std::int64_t y_row;
};
template <class T>
using PlaneRows = void (*)(const PlaneRowsArgs<T>&);

// For windows of so many rows, side by side; null where there is none, or no AVX-512.
template <class T>
PlaneRows<T> plane_rows(std::int64_t kh);

extern template PlaneRows<float> plane_rows(std::int64_t);
extern template PlaneRows<double> plane_rows(std::int64_t);

}  // namespace rushlight::conv
