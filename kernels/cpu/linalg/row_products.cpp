// Up to eight rows of `left` by some of `right` at a time: their sums stay in registers over a slab
// of the depth, and are added up across the lanes at its end.
#include "row_products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "lane_sums.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;
constexpr Index kMost = 8;  // rows of left at a time
constexpr Index kSlab = 64 * 1024;  // bytes of such rows, for the second cache

template <class T>
struct Rows {
  const T *a, *b;
  Index a_row, b_row, depth;
  T* out;
  Index ldo;
  T alpha, beta;
};

// One vector of each row; `some` lanes of it, if not all.
template <class T, int R, int C, bool kAll>
[[gnu::always_inline, gnu::target("avx512f")]] inline void step(
    typename Wide<T>::Vector (*acc)[kMost], const T* a, Index a_row, const T* b, Index b_row,
    __mmask16 some) {
  using W = Wide<T>;
  typename W::Vector y[C];
#pragma GCC unroll 6
  for (int c = 0; c < C; ++c) y[c] = kAll ? W::load(b + c * b_row) : W::load(some, b + c * b_row);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const typename W::Vector x = kAll ? W::load(a + r * a_row) : W::load(some, a + r * a_row);
#pragma GCC unroll 6
    for (int c = 0; c < C; ++c) acc[c][r] += x * y[c];
  }
}

template <class T, int R, int C>
[[gnu::target("avx512f")]] void rows_by_rows(const Rows<T>& s) {
  using W = Wide<T>;
  using V = typename W::Vector;
  constexpr Index n = W::kLanes;
  V acc[C][kMost];
#pragma GCC unroll 6
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int r = 0; r < kMost; ++r) acc[c][r] = V{};
  const T *a = s.a, *b = s.b;
  const Index a_row = s.a_row, b_row = s.b_row;
  Index k = s.depth;
  for (; k >= n; k -= n, a += n, b += n) step<T, R, C, true>(acc, a, a_row, b, b_row, 0);
  if (k) step<T, R, C, false>(acc, a, a_row, b, b_row, first_lanes(k));
#pragma GCC unroll 6
  for (int c = 0; c < C; ++c) {
    T sums[n];
    W::store(sums, first_lanes(n), sums_of<T>(acc[c]));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      T* const to = s.out + r * s.ldo + c;
      *to = s.beta == T(0) ? s.alpha * sums[r] : s.alpha * sums[r] + s.beta * *to;
    }
  }
}

// Rows of right at a time, for groups of at most so many rows of left: the last group is smaller.
constexpr int together(int rows) { return rows <= 4 ? 6 : 3; }
template <class T>
using Function = void (*)(const Rows<T>&);
template <class T, int C, int... R>
constexpr std::array<Function<T>, sizeof...(R)> of_columns(std::integer_sequence<int, R...>) {
  return {rows_by_rows<T, R + 1, C>...};
}
template <class T>
Function<T> pick(Index rows, int columns) {
  static constexpr auto one = of_columns<T, 1>(std::make_integer_sequence<int, int(kMost)>()),
                        three = of_columns<T, 3>(std::make_integer_sequence<int, int(kMost)>());
  static constexpr auto six = of_columns<T, 6>(std::make_integer_sequence<int, 4>());
  const auto at = std::size_t(rows - 1);
  return columns == 1 ? one[at] : columns == 3 ? three[at] : six[at];
}

}  // namespace

template <class T>
void row_products(const StridedMatrix<const T>& given, const StridedMatrix<const T>& right,
                  const StridedMatrix<T>& out, T alpha, T beta) {
  const Index m = out.rows, n = out.cols, k = given.cols;
  // Vectors that lie across two lines of the cache take twice as long to read: of left, which is
  // read most, there are none.
  constexpr Index kLine = 64 / Index(sizeof(T)), kMany = 64;
  const bool copies = n >= kMany && (given.row_stride % kLine != 0 ||
                                     reinterpret_cast<std::uintptr_t>(given.data) % 64 != 0);
  const Index apart = copies ? rounded_up(k, kLine) : given.row_stride;
  Scratch<T> copy(std::size_t(copies ? m * apart : 0));
  if (copies)
    for (Index i = 0; i < m; ++i)
      std::copy_n(given.data + i * given.row_stride, k, copy.data() + i * apart);
  const StridedMatrix<const T> left{copies ? copy.data() : given.data, m, k, apart, 1};
  const Index groups = (m + kMost - 1) / kMost, height = (m + groups - 1) / groups;
  const Index deepest = kSlab / Index(sizeof(T)) / height / 16 * 16 * 4;
  for (Index d = 0; d < k; d += deepest) {
    const Index depth = std::min(deepest, k - d);
    const int at_once = together(int(height));
    parallel_for((n + at_once - 1) / at_once, 1 + kWorthwhile / (m * depth * at_once),
                 [&](Index begin, Index end) {
                   for (Index j = begin * at_once; j < std::min(n, end * at_once);) {
                     const int columns = n - j < at_once ? 1 : at_once;
                     for (Index i = 0; i < m; i += height)
                       pick<T>(std::min(height, m - i),
                               columns)({left.data + i * left.row_stride + d,
                                         right.data + j * right.row_stride + d, left.row_stride,
                                         right.row_stride, depth, out.data + i * out.row_stride + j,
                                         out.row_stride, alpha, d == 0 ? beta : T(1)});
                     j += columns;
                   }
                 });
  }
}
#else
template <class T>
void row_products(const StridedMatrix<const T>&, const StridedMatrix<const T>&,
                  const StridedMatrix<T>&, T, T) {}
#endif

template void row_products(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                           const StridedMatrix<float>&, float, float);
template void row_products(const StridedMatrix<const double>&, const StridedMatrix<const double>&,
                           const StridedMatrix<double>&, double, double);

}  // namespace rushlight
