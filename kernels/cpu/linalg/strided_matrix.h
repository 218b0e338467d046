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

// Where the sums of a product go: out = alpha * sums + beta * added, computed in C.
template <class T, class C = T>
struct ProductOutput {
  StridedMatrix<T> out;
  C alpha, beta;
  StridedMatrix<const T> added;  // `out` itself, or a bias: one row for all. Not read if beta is 0
};
template <class C, class T>
ProductOutput<T, C> output_of(const StridedMatrix<T>& out, C alpha = 1, C beta = 0) {
  return {out, alpha, beta, {out.data, out.rows, out.cols, out.row_stride, out.col_stride}};
}
template <class T, class C>
ProductOutput<T, C> transposed(const ProductOutput<T, C>& o) {
  return {transposed(o.out), o.alpha, o.beta, transposed(o.added)};
}

}  // namespace rushlight
