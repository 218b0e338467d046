// Either the lanes are columns of the result, whose sums stay in registers (`right` in rows, or
// copied so), or, for a vector, the depth: eight sums at a time are added up across their lanes.
#include "small_batch.h"

#include <algorithm>
#include <limits>

#include "kernels/parallel.h"
#include "lane_sums.h"
#include "panel_sums.h"
#include "register_tile.h"
#include "strided_matrix.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;
constexpr Index kMostProducts = 65536;
constexpr Index kPanelBytes = 16384;  // of a copy of `right`
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

// All columns of the matrices [begin, end). `right` is read where it lies, or copied in rows.
template <class T>
void by_columns(const Products<T>& p, Index begin, Index end) {
  constexpr Index kLanes = Wide<T>::kLanes, kMost = kMostVectors * kLanes;
  alignas(64) T copy[kPanelBytes / sizeof(T)];
  const bool copies = p.right.column != 1, copies_once = p.right.batch == 0 && p.n <= kMost;
  for (Index i = begin; i < end; ++i)
    for (Index c = 0; c < p.n; c += kMost) {
      const T* const right = p.right.data + i * p.right.batch + c * p.right.column;
      const Index n = std::min(kMost, p.n - c), width = rounded_up(n, kLanes);
      if (copies && !(copies_once && i > begin))
        for (Index v = 0; v < n; v += kLanes)
          transpose_lanes(right + v * p.right.column, p.right.column, n - v, p.k, copy + v, width,
                          first_lanes(kLanes));
      add_panel<T>({p.left.data + i * p.left.batch, p.left.row, p.left.column,
                    copies ? copy : right, copies ? width : p.right.row, p.m, n, p.k,
                    p.out.data + i * p.out.batch + c, p.out.row, p.alpha, p.beta});
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

// One element after another, in any layout.
template <class T>
void by_elements(const Products<T>& p, Index begin, Index end) {
  const auto [batch, m, n, depth, left, right, to, alpha, beta] = p;
  for (Index i = begin; i < end; ++i) {
    const T* row = left.data + i * left.batch;
    T* out_row = to.data + i * to.batch;
    for (Index r = 0; r < m; ++r, row += left.row, out_row += to.row) {
      const T* column = right.data + i * right.batch;
      T* out = out_row;
      for (Index c = 0; c < n; ++c, column += right.column, out += to.column) {
        T sum = *row * *column;
        for (Index k = 1; k < depth; ++k) sum += row[k * left.column] * column[k * right.row];
        *out = beta == T(0) ? alpha * sum : alpha * sum + beta * *out;
      }
    }
  }
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
  constexpr Index kLanes = Wide<T>::kLanes, kCall = 15, kTranspose = 80;
  if (p.out.column != 1) return kNever;
  const Index wide = (p.n + kLanes - 1) / kLanes, deep = (p.k + kLanes - 1) / kLanes;
  const Index sums = kCall + p.m * wide * (p.k / 2 + 3);
  // BLAS reads less for few columns of larger matrices.
  if (p.right.column == 1) return p.n <= kLanes / 2 && p.m * p.k > 2048 ? kNever : sums;
  const bool fits =
      std::min<Index>(wide, kMostVectors) * kLanes * p.k * Index(sizeof(T)) <= kPanelBytes;
  return p.right.row == 1 && fits ? sums + wide * deep * kTranspose : kNever;
}

// Strides of a dimension of size 1 mean nothing: the best for each.
template <class T>
Operand<T> operand(const View& v) {
  const Index rows = v.sizes[1], columns = v.sizes[2];
  return {v.as<T>(), v.strides[0], rows == 1 ? columns : v.strides[1],
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
  const Index depth = cost_by_depth(p), columns = cost_by_columns(p);
  const Index rows = cost_by_columns(other), elements = 4 + m * n * (2 + k);
  if (std::min({depth, columns, rows}) == kNever) return false;
  const auto run = [&](const Products<T>& product, auto* f) {
    parallel_for(product.batch, 1 + kWorthwhile / (m * n * k),
                 [&](Index begin, Index end) { f(product, begin, end); });
  };
  if (elements <= std::min({depth, columns, rows}))
    run(p, by_elements<T>);
  else if (depth <= std::min(columns, rows))
    run(m < n ? other : p, by_depth<T>);
  else if (columns <= rows)
    run(p, by_columns<T>);
  else
    run(other, by_columns<T>);
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
