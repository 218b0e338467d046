// Either the lanes are columns of the result, whose sums stay in registers (`right` in rows, or
// copied so), or, for a vector, the depth: eight sums at a time are added up across their lanes.
#include "small_batch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernels/parallel.h"
#include "lane_sums.h"
#include "register_tile.h"
#include "strided_matrix.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;
constexpr Index kMostProducts = 65536;
constexpr Index kPanelBytes = 16384;  // of a copy of `right`
constexpr int kMostVectors = 4;       // of a row's columns at a time
constexpr int kTogether = 8;          // sums over the depth

// Of each matrix: `batch` elements after the one before.
template <class T>
struct Operand {
  T* data;
  Index batch, row, column;
};
template <class T>
Operand<T> transposed(const Operand<T>& o) {
  return {o.data, o.batch, o.column, o.row};
}

template <class T>
struct Products {
  Index batch, m, n, k;
  Operand<const T> left, right;
  Operand<T> out;
  T alpha, beta;
};
template <class T>
Products<T> transposed(const Products<T>& p) {
  return {p.batch,           p.n,     p.m,   p.k, transposed(p.right), transposed(p.left),
          transposed(p.out), p.alpha, p.beta};
}

// One matrix, or the rows of it from `left` and `out` on.
template <class T>
struct Rows {
  const T* left;
  Index left_row, left_column;
  const T* panel;
  Index panel_row, k;
  T* out;
  Index out_row;
  T alpha, beta;
  __mmask16 last;  // lanes of the last vector
};

template <class T, int R, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void some_rows(const Rows<T>& s) {
  using W = Wide<T>;
  using Vector = typename W::Vector;
  constexpr Index n = W::kLanes;
  constexpr int kSets = R * V <= 2 ? 4 : R * V <= 4 ? 2 : 1;  // so that no sum waits for itself
  const auto lanes = [&](int v) { return v + 1 < V ? first_lanes(n) : s.last; };
  Vector sums[kSets][R][V] = {};
  const auto add = [&](Vector(&to)[R][V], const T* a,
                       const T* b) __attribute__((always_inline, target("avx512f"))) {
    Vector columns[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      columns[v] = W::load(lanes(v), b + v * n);
      asm("" : "+v"(columns[v]));  // read once, not by each row: it may lie across cache lines
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) to[r][v] += a[r * s.left_row] * columns[v];
  };
  const T *a = s.left, *b = s.panel;
  Index k = s.k;
  if constexpr (kSets > 1)
    for (; k >= kSets; k -= kSets)
#pragma GCC unroll 4
      for (int set = 0; set < kSets; ++set, a += s.left_column, b += s.panel_row)
        add(sums[set], a, b);
  for (; k; --k, a += s.left_column, b += s.panel_row) add(sums[0], a, b);
#pragma GCC unroll 4
  for (int set = 1; set < kSets; ++set)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[0][r][v] += sums[set][r][v];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      T* const to = s.out + r * s.out_row + v * n;
      Vector result = s.alpha * sums[0][r][v];
      if (s.beta != T(0)) result += s.beta * W::load(lanes(v), to);
      W::store(to, lanes(v), result);
    }
}

template <int V>
constexpr int kRowsOf = V == 1   ? 8
                        : V == 2 ? 6
                                 : 4;  // their sums and columns are in registers

template <class T, int V, int R = 1>
[[gnu::always_inline, gnu::target("avx512f")]] inline void last_rows(const Rows<T>& s, Index rows) {
  if constexpr (R < kRowsOf<V>) {
    if (rows == R) return some_rows<T, R, V>(s);
    last_rows<T, V, R + 1>(s, rows);
  }
}

// Columns [c, c + n) of matrix i, as V vectors. `copy` has room for those of `right`, in rows.
template <class T, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void columns(const Products<T>& p, Index i,
                                                                   Index c, Index n, T* copy,
                                                                   bool is_copied) {
  constexpr Index kLanes = Wide<T>::kLanes, kRows = kRowsOf<V>;
  const T* const right = p.right.data + i * p.right.batch + c * p.right.column;
  const bool copies = p.right.column != 1;
  if (copies && !is_copied)
    for (int v = 0; v < V; ++v)
      transpose_lanes(right + v * kLanes * p.right.column, p.right.column, n - v * kLanes, p.k,
                      copy + v * kLanes, V * kLanes, first_lanes(kLanes));
  Rows<T> s{p.left.data + i * p.left.batch,
            p.left.row,
            p.left.column,
            copies ? copy : right,
            copies ? V * kLanes : p.right.row,
            p.k,
            p.out.data + i * p.out.batch + c,
            p.out.row,
            p.alpha,
            p.beta,
            first_lanes(n - (V - 1) * kLanes)};
  Index rows = p.m;
  for (; rows >= kRows; rows -= kRows, s.left += kRows * s.left_row, s.out += kRows * s.out_row)
    some_rows<T, int(kRows), V>(s);
  last_rows<T, V>(s, rows);
}

// Of matrices whose last columns are V vectors.
template <class T, int V>
[[gnu::target("avx512f")]] void by_columns(const Products<T>& p, Index begin, Index end) {
  constexpr Index kMost = kMostVectors * Wide<T>::kLanes;
  alignas(64) T copy[kPanelBytes / sizeof(T)];
  for (Index i = begin; i < end; ++i) {
    Index c = 0;
    for (; p.n - c > kMost; c += kMost) columns<T, kMostVectors>(p, i, c, kMost, copy, false);
    columns<T, V>(p, i, c, p.n - c, copy, c == 0 && i > begin && p.right.batch == 0);
  }
}

// Eight sums over the depth, of which `used` count.
template <class T>
struct Sums {
  const T *rows[kTogether], *vectors[kTogether];
  T* to[kTogether];
  bool side_by_side;  // where they go
  int used;
};
template <class T, bool kOneVector>
[[gnu::noinline, gnu::target("avx512f")]] void add_over_depth(const Sums<T>& s, Index depth,
                                                              T alpha, T beta) {
  using W = Wide<T>;
  using Vector = typename W::Vector;
  constexpr Index n = W::kLanes;
  Vector sums[kTogether] = {};
  const auto add = [&](Index k, __mmask16 lanes) __attribute__((always_inline, target("avx512f"))) {
    const Vector shared = W::load(lanes, s.vectors[0] + k);
#pragma GCC unroll 8
    for (int r = 0; r < kTogether; ++r)
      sums[r] +=
          W::load(lanes, s.rows[r] + k) * (kOneVector ? shared : W::load(lanes, s.vectors[r] + k));
  };
  Index k = 0;
  for (; k + n <= depth; k += n) add(k, first_lanes(n));
  if (k < depth) add(k, first_lanes(depth - k));
  const Vector scaled = alpha * sums_of<T>(sums);
  if (beta == T(0) && s.side_by_side) return W::store(s.to[0], first_lanes(s.used), scaled);
  alignas(64) T results[n];
  W::store(results, first_lanes(n), scaled);
  for (int r = 0; r < s.used; ++r)
    *s.to[r] = beta == T(0) ? results[r] : results[r] + beta * *s.to[r];
}

// Rows and columns that lie along the depth: all sums of matrices [begin, end).
template <class T>
void by_depth(const Products<T>& p, Index begin, Index end) {
  const auto [batch, m, n, depth, left, right, to, alpha, beta] = p;
  const bool dense = to.row == 1 && (n == 1 || to.column == m) && to.batch == m * n;
  Sums<T> s;
  s.used = 0;
  const T *rows = left.data + begin * left.batch, *vectors = right.data + begin * right.batch;
  T* out = to.data + begin * to.batch;
  for (Index i = begin; i < end; ++i, rows += left.batch, vectors += right.batch, out += to.batch) {
    const T* vector = vectors;
    T* column = out;
    for (Index j = 0; j < n; ++j, vector += right.column, column += to.column) {
      const T* row = rows;
      T* sum = column;
      for (Index r = 0; r < m; ++r, row += left.row, sum += to.row) {
        s.rows[s.used] = row, s.vectors[s.used] = vector, s.to[s.used] = sum;
        if (++s.used < kTogether) continue;
        const bool one_vector = r + 1 >= kTogether;
        s.side_by_side = dense || (one_vector && to.row == 1);
        (one_vector ? add_over_depth<T, true> : add_over_depth<T, false>)(s, depth, alpha, beta);
        s.used = 0;
      }
    }
  }
  if (s.used == 0) return;
  for (int r = s.used; r < kTogether; ++r) s.rows[r] = s.rows[0], s.vectors[r] = s.vectors[0];
  s.side_by_side = dense;
  add_over_depth<T, false>(s, depth, alpha, beta);
}

// Cycles of one product, roughly; of what cannot be computed so, more than anything else takes.
constexpr Index kNever = std::numeric_limits<Index>::max();
template <class T>
Index cost_by_depth(const Products<T>& p) {
  if (p.left.column != 1 || p.right.row != 1) return kNever;
  return p.m * p.n * (3 * p.k / (2 * Wide<T>::kLanes) + 9);
}
template <class T>
Index cost_by_columns(const Products<T>& p) {
  constexpr Index kLanes = Wide<T>::kLanes, kTranspose = 80;
  if (p.out.column != 1) return kNever;
  const Index wide = (p.n + kLanes - 1) / kLanes, deep = (p.k + kLanes - 1) / kLanes;
  const Index sums = p.m * wide * (p.k / 2 + 3);
  // BLAS reads less for few columns of larger matrices.
  if (p.right.column == 1) return p.n <= kLanes / 2 && p.m * p.k > 2048 ? kNever : sums;
  const bool fits =
      std::min<Index>(wide, kMostVectors) * kLanes * p.k * Index(sizeof(T)) <= kPanelBytes;
  return p.right.row == 1 && fits ? sums + wide * deep * kTranspose : kNever;
}

// Strides of a dimension of size 1 mean nothing: the best for each.
template <class T, class V>
Operand<T> operand(const V& v) {
  const Index rows = v.sizes[1], columns = v.sizes[2];
  return {v.template as<T>(), v.strides[0], rows == 1 ? columns : v.strides[1],
          columns == 1 ? 1 : v.strides[2]};
}

}  // namespace

template <class T>
bool small_batch(const View& left, const View& right, const View& out, T alpha, T beta) {
  const Index m = out.sizes[1], n = out.sizes[2], k = left.sizes[2];
  if (tiles().width != 16 || m == 0 || n == 0 || k == 0 || alpha == T(0) || m > kMostProducts ||
      n > kMostProducts || k > kMostProducts || m * n > kMostProducts || m * n * k > kMostProducts)
    return false;
  const Products<T> p{
      out.sizes[0],    m,     n,   k, operand<const T>(left), operand<const T>(right),
      operand<T>(out), alpha, beta};
  const Products<T> other = transposed(p);
  const Index depth = cost_by_depth(p), columns = cost_by_columns(p), rows = cost_by_columns(other);
  if (std::min({depth, columns, rows}) == kNever) return false;
  constexpr std::array by_vectors = {by_columns<T, 1>, by_columns<T, 2>, by_columns<T, 3>,
                                     by_columns<T, 4>};
  const auto of = [&](Index columns) {
    return by_vectors[std::size_t((columns - 1) / Wide<T>::kLanes % kMostVectors)];
  };
  const auto run = [&](const Products<T>& product, auto* f) {
    parallel_for(product.batch, 1 + kWorthwhile / (m * n * k),
                 [&](Index begin, Index end) { f(product, begin, end); });
  };
  if (depth <= std::min(columns, rows))
    run(m < n ? other : p, by_depth<T>);
  else if (columns <= rows)
    run(p, of(n));
  else
    run(other, of(m));
  return true;
}
#else
template <class T>
bool small_batch(const View&, const View&, const View&, T, T) {
  return false;
}
#endif

template bool small_batch(const View&, const View&, const View&, float, float);
template bool small_batch(const View&, const View&, const View&, double, double);

}  // namespace rushlight
