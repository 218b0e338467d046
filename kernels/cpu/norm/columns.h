// Sums down the columns of a matrix, for batch norm of (n, c): lanes are channels. Rows are taken
// in blocks whose sums in T lose nothing; blocks add up in double.
#pragma once
#include "loops.h"

namespace rushlight::norm {

inline constexpr int kColumns = 64;  // handled at once
inline constexpr Index kRows = 512;

template <class S, class T = Compute<S>>
CLONES void sum_columns(const S* x, Index rows, Index ld, T* __restrict sum) {
  for (Index r = 0; r < rows; ++r, x += ld)
    for (int i = 0; i < kColumns; ++i) sum[i] += load(x + i);
}
template <class S, class T = Compute<S>>
CLONES void sum_squares(const S* x, Index rows, Index ld, const T* __restrict mean,
                        T* __restrict sum) {
  for (Index r = 0; r < rows; ++r, x += ld)
    for (int i = 0; i < kColumns; ++i) {
      const T d = load(x + i) - mean[i];
      sum[i] += d * d;
    }
}
template <class S, class T = Compute<S>>
CLONES void sum_products(const S* g, const S* x, Index rows, Index ld, const T* __restrict mean,
                         T* __restrict sum, T* __restrict product) {
  for (Index r = 0; r < rows; ++r, x += ld, g += ld)
    for (int i = 0; i < kColumns; ++i) {
      const T v = load(g + i);
      sum[i] += v;
      product[i] += v * (load(x + i) - mean[i]);
    }
}

// out = g * a + (x - mean) * b + c, all vectors
template <class S, class T = Compute<S>>
CLONES void combine_columns(const S* __restrict g, const S* __restrict x, Index n,
                            const T* __restrict a, const T* __restrict mean, const T* __restrict b,
                            const T* __restrict c, S* __restrict out) {
  for (Index i = 0; i < n; ++i)
    store(out + i, load(g + i) * a[i] + ((load(x + i) - mean[i]) * b[i] + c[i]));
}

// Moments of kColumns channels from column x on.
template <class S>
void add_column_moments(const S* x, Index n, Index ld, Moments* all) {
  using T = Compute<S>;
  for (Index r = 0; r < n; r += kRows, x += kRows * ld) {
    const Index rows = std::min(kRows, n - r);
    T mean[kColumns] = {}, squares[kColumns] = {};
    sum_columns(x, rows, ld, mean);
    for (T& m : mean) m /= T(rows);
    sum_squares(x, rows, ld, mean, squares);
    for (int i = 0; i < kColumns; ++i)
      all[i].join(double(rows), double(mean[i]), double(squares[i]));
  }
}

template <class S, class T = Compute<S>>
void add_column_products(const S* g, const S* x, Index n, Index ld, const T* mean, double* sum,
                         double* product) {
  for (Index r = 0; r < n; r += kRows) {
    T sums[kColumns] = {}, products[kColumns] = {};
    sum_products(g + r * ld, x + r * ld, std::min(kRows, n - r), ld, mean, sums, products);
    for (int i = 0; i < kColumns; ++i) {
      sum[i] += double(sums[i]);
      product[i] += double(products[i]);
    }
  }
}

}  // namespace rushlight::norm
