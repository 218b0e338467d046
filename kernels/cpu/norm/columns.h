// Sums down the columns of a matrix, for batch norm of (n, c) and for images whose channels lie
// innermost: lanes are channels. Rows are taken in blocks whose sums in T lose nothing; blocks add
// up in double. Note: parts depend on the sizes alone, so sums do not depend on the number of
// threads.
#pragma once
#include <vector>

#include "kernels/parallel.h"
#include "loops.h"

namespace rushlight::norm {

inline constexpr Index kColumns = 64;  // handled at once
inline constexpr Index kRows = 512;
inline constexpr Index kColumnParts = 16;

// The loops under those below: `constant` columns, which then stay in registers, or n.
template <Index constant, class S, class T = Compute<S>>
[[gnu::always_inline]] inline void add_rows(const S* x, Index rows, Index ld, Index n,
                                            T* __restrict sum) {
  const Index width = constant ? constant : n;
  for (Index r = 0; r < rows; ++r, x += ld)
    for (Index i = 0; i < width; ++i) sum[i] += load(x + i);
}
template <Index constant, class S, class T = Compute<S>>
[[gnu::always_inline]] inline void add_squares(const S* x, Index rows, Index ld, Index n,
                                               const T* __restrict mean, T* __restrict sum) {
  const Index width = constant ? constant : n;
  for (Index r = 0; r < rows; ++r, x += ld)
    for (Index i = 0; i < width; ++i) {
      const T d = load(x + i) - mean[i];
      sum[i] += d * d;
    }
}
template <Index constant, class S, class T = Compute<S>>
[[gnu::always_inline]] inline void add_column_products(const S* g, const S* x, Index rows, Index ld,
                                                       Index n, const T* __restrict mean,
                                                       T* __restrict sum, T* __restrict product) {
  const Index width = constant ? constant : n;
  for (Index r = 0; r < rows; ++r, x += ld, g += ld)
    for (Index i = 0; i < width; ++i) {
      const T v = load(g + i);
      sum[i] += v;
      product[i] += v * (load(x + i) - mean[i]);
    }
}

// mean and squares start as zeros
template <class S, class T = Compute<S>>
CLONES void block_column_moments(const S* x, Index rows, Index ld, Index n, T* __restrict mean,
                                 T* __restrict squares) {
  if (n == kColumns)
    add_rows<kColumns>(x, rows, ld, n, mean);
  else
    add_rows<0>(x, rows, ld, n, mean);
  for (Index i = 0; i < n; ++i) mean[i] /= T(rows);
  if (n == kColumns)
    add_squares<kColumns>(x, rows, ld, n, mean, squares);
  else
    add_squares<0>(x, rows, ld, n, mean, squares);
}
template <class S, class T = Compute<S>>
CLONES void block_column_products(const S* g, const S* x, Index rows, Index ld, Index n,
                                  const T* __restrict mean, T* __restrict sum,
                                  T* __restrict product) {
  if (n == kColumns)
    add_column_products<kColumns>(g, x, rows, ld, n, mean, sum, product);
  else
    add_column_products<0>(g, x, rows, ld, n, mean, sum, product);
}

// y = x * a + b, of so many rows
template <class S, class T = Compute<S>>
CLONES void scale_by(const S* __restrict x, Index rows, Index n, const T* __restrict a,
                     const T* __restrict b, S* __restrict y) {
  for (Index r = 0; r < rows; ++r, x += n, y += n)
    for (Index i = 0; i < n; ++i) store(y + i, load(x + i) * a[i] + b[i]);
}
// out = g * a + (x - mean) * b + c, of so many rows
template <class S, class T = Compute<S>>
CLONES void combine_columns(const S* __restrict g, const S* __restrict x, Index rows, Index n,
                            const T* __restrict a, const T* __restrict mean, const T* __restrict b,
                            const T* __restrict c, S* __restrict out) {
  for (Index r = 0; r < rows; ++r, g += n, x += n, out += n)
    for (Index i = 0; i < n; ++i)
      store(out + i, load(g + i) * a[i] + ((load(x + i) - mean[i]) * b[i] + c[i]));
}

// Calls f(part, first row, rows, first column, columns) for all pieces of a matrix.
inline Index column_parts(Index n) { return std::clamp<Index>(n / kRows, 1, kColumnParts); }
template <class F>
void each_column_piece(Index n, Index c, F f) {
  const Index blocks = (c + kColumns - 1) / kColumns, parts = column_parts(n);
  const Index work = std::max<Index>(n / parts * std::min(c, kColumns), 1);
  parallel_for(parts * blocks, 1 + 16384 / work, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index part = i / blocks, first = i % blocks * kColumns, row = n * part / parts;
      f(part, row, n * (part + 1) / parts - row, first, std::min(kColumns, c - first));
    }
  });
}

// The moments of c columns of n rows.
template <class S>
void column_moments(const S* x, Index n, Index c, Moments* all) {
  using T = Compute<S>;
  std::vector<Moments> more(std::size_t((column_parts(n) - 1) * c));
  each_column_piece(n, c, [&](Index part, Index row, Index rows, Index first, Index width) {
    Moments* const to = (part ? more.data() + (part - 1) * c : all) + first;
    for (Index r = 0; r < rows; r += kRows) {
      const Index size = std::min(kRows, rows - r);
      T mean[kColumns] = {}, squares[kColumns] = {};
      block_column_moments(x + (row + r) * c + first, size, c, width, mean, squares);
      for (Index i = 0; i < width; ++i)
        to[i].join(double(size), double(mean[i]), double(squares[i]));
    }
  });
  for (std::size_t i = 0; i < more.size(); ++i)
    all[i % std::size_t(c)].join(more[i].count, more[i].mean, more[i].m2);
}

// Sums of g and of g * (x - mean) down c columns, added to those given.
template <class S, class T = Compute<S>>
void column_products(const S* g, const S* x, Index n, Index c, const T* mean, double* sum,
                     double* product) {
  std::vector<double> more(std::size_t(2 * (column_parts(n) - 1) * c));
  each_column_piece(n, c, [&](Index part, Index row, Index rows, Index first, Index width) {
    double* const s = (part ? more.data() + 2 * (part - 1) * c : sum) + first;
    double* const p = (part ? more.data() + (2 * part - 1) * c : product) + first;
    for (Index r = 0; r < rows; r += kRows) {
      T sums[kColumns] = {}, products[kColumns] = {};
      const Index at = (row + r) * c + first;
      block_column_products(g + at, x + at, std::min(kRows, rows - r), c, width, mean + first, sums,
                            products);
      for (Index i = 0; i < width; ++i) {
        s[i] += double(sums[i]);
        p[i] += double(products[i]);
      }
    }
  });
  for (std::size_t i = 0; i < more.size(); ++i)
    (i / std::size_t(c) % 2 ? product : sum)[i % std::size_t(c)] += more[i];
}

}  // namespace rushlight::norm
