// Rows of a product by a panel of few columns, whose sums stay in registers while the panel is read
// once for each four to eight rows. For AVX-512.
#pragma once
#include <cstdint>

namespace rushlight {

constexpr int kMostVectors = 4;  // of 64 bytes: the columns of a panel

// out (m x n) = alpha * left (m x k) * right (k x n) + beta * out; columns of right and out lie
// next to each other, n of them fit kMostVectors. out is not read where beta is 0.
template <class T>
struct PanelOf {
  const T* left;
  std::int64_t left_row, left_column;
  const T* right;
  std::int64_t right_row, m, n, k;
  T* out;
  std::int64_t out_row;
  T alpha, beta;
};
template <class T>
void add_panel(const PanelOf<T>& panel);
extern template void add_panel(const PanelOf<float>&);
extern template void add_panel(const PanelOf<double>&);

}  // namespace rushlight
