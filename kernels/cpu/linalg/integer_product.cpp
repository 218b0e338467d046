// Rows of the result are sums of rows of `right`, four rows of four at a time, so that a sum is
// loaded and stored once for four multiplications, and a row of `right` once for four sums; of
// `right` as many rows as the cache holds. A single column is a dot product for each row.
#include "integer_product.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"

namespace rushlight {
namespace {

template <class T>  // wraps, and is not promoted to int
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;

template <class T>
[[gnu::always_inline]] inline void add_product(std::int64_t n, T a, const T* b, T* __restrict out) {
  using U = Wrapping<T>;
  for (std::int64_t j = 0; j < n; ++j) out[j] = T(U(out[j]) + U(a) * U(b[j]));
}
template <class T>
[[gnu::always_inline]] inline void add_four_products(std::int64_t n, const T* a, const T* b,
                                                     std::int64_t step, T* __restrict out) {
  using U = Wrapping<T>;
  const U a0 = U(a[0]), a1 = U(a[1]), a2 = U(a[2]), a3 = U(a[3]);
  const T *b1 = b + step, *b2 = b1 + step, *b3 = b2 + step;
  for (std::int64_t j = 0; j < n; ++j)
    out[j] = T(U(out[j]) + a0 * U(b[j]) + a1 * U(b1[j]) + a2 * U(b2[j]) + a3 * U(b3[j]));
}
constexpr std::int64_t kLongDot = 64;
template <class T>
CLONES_512 T dot(std::int64_t n, const T* a, const T* b) {
  using U = Wrapping<T>;
  U sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += U(a[j]) * U(b[j]);
  return T(sum);
}
template <class T>
T dot(std::int64_t n, const T* a, std::int64_t a_step, const T* b) {
  if (a_step == 1) return dot(n, a, b);
  using U = Wrapping<T>;
  U sums[4] = {};
  std::int64_t j = 0;
  for (; j + 4 <= n; j += 4)
    for (std::int64_t k = 0; k < 4; ++k) sums[k] += U(a[(j + k) * a_step]) * U(b[j + k]);
  for (; j < n; ++j) sums[0] += U(a[j * a_step]) * U(b[j]);
  return T(U(U(sums[0] + sums[1]) + U(sums[2] + sums[3])));
}
template <class T>
T finished(T sum, T alpha, T beta, const T& out) {
  using U = Wrapping<T>;
  const U scaled = U(alpha) * U(sum);
  return T(beta == T(0) ? scaled : U(scaled + U(beta) * U(out)));
}

// Reads m where its rows are contiguous, else from a copy.
template <class T>
StridedMatrix<const T> with_rows(const StridedMatrix<const T>& m, std::vector<T>& copy) {
  if (m.col_stride == 1) return m;
  copy.resize(std::size_t(m.rows * m.cols));
  if (m.row_stride == 1) {
    transpose(m.data, m.col_stride, m.cols, m.rows, copy.data(), m.cols);
  } else {
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j)
        copy[std::size_t(i * m.cols + j)] = m.data[i * m.row_stride + j * m.col_stride];
  }
  return {copy.data(), m.rows, m.cols, m.cols, 1};
}

// Adds k rows of `right`, `step` apart, times those of `left`, to n sums.
template <class T>
CLONES_512 void add_rows(std::int64_t n, std::int64_t k, const T* left, std::int64_t left_step,
                         const T* right, std::int64_t step, T* sums) {
  std::int64_t j = 0;
  for (; j + 4 <= k; j += 4) {
    const T a[] = {left[j * left_step], left[(j + 1) * left_step], left[(j + 2) * left_step],
                   left[(j + 3) * left_step]};
    add_four_products(n, a, right + j * step, step, sums);
  }
  for (; j < k; ++j) add_product(n, left[j * left_step], right + j * step, sums);
}

template <class U, class T>  // apart, so that gcc sees that nothing overlaps
[[gnu::always_inline]] inline void add_four_by_four(std::int64_t n, const U (&a)[4][4], const T* b0,
                                                    const T* b1, const T* b2, const T* b3,
                                                    T* __restrict s0, T* __restrict s1,
                                                    T* __restrict s2, T* __restrict s3) {
  for (std::int64_t i = 0; i < n; ++i) {
    const U x0 = U(b0[i]), x1 = U(b1[i]), x2 = U(b2[i]), x3 = U(b3[i]);
    s0[i] = T(U(s0[i]) + a[0][0] * x0 + a[0][1] * x1 + a[0][2] * x2 + a[0][3] * x3);
    s1[i] = T(U(s1[i]) + a[1][0] * x0 + a[1][1] * x1 + a[1][2] * x2 + a[1][3] * x3);
    s2[i] = T(U(s2[i]) + a[2][0] * x0 + a[2][1] * x1 + a[2][2] * x2 + a[2][3] * x3);
    s3[i] = T(U(s3[i]) + a[3][0] * x0 + a[3][1] * x1 + a[3][2] * x2 + a[3][3] * x3);
  }
}

// The same for four rows of `left` and of sums, and a multiple of four rows of `right`.
template <class T>
CLONES_512 void add_to_four_rows(std::int64_t n, std::int64_t k, const StridedMatrix<const T>& left,
                                 const T* right, std::int64_t step, T* sums, std::int64_t ld) {
  using U = Wrapping<T>;
  T *s0 = sums, *s1 = sums + ld, *s2 = s1 + ld, *s3 = s2 + ld;
  for (std::int64_t j = 0; j < k; j += 4) {
    U a[4][4];
    for (std::int64_t r = 0; r < 4; ++r)
      for (std::int64_t q = 0; q < 4; ++q)
        a[r][q] = U(left.data[r * left.row_stride + (j + q) * left.col_stride]);
    const T *b0 = right + j * step, *b1 = b0 + step, *b2 = b1 + step, *b3 = b2 + step;
    add_four_by_four<U>(n, a, b0, b1, b2, b3, s0, s1, s2, s3);
  }
}

// sums (rows of n) = left * right, whose rows are contiguous
template <class T>
void product(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
             std::int64_t n, T* sums) {
  constexpr std::int64_t kNear = 262144 / std::int64_t(sizeof(T)), kBlock = 1024;
  const std::int64_t k = left.cols, groups = (left.rows + 3) / 4;
  const std::int64_t work = std::max<std::int64_t>(4 * k * n, 1);
  parallel_for(groups, 1 + 65536 / work, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = std::min(left.rows, 4 * end);
    std::fill_n(sums + 4 * begin * n, (last - 4 * begin) * n, T(0));
    for (std::int64_t c = 0; c < n; c += kBlock) {
      const std::int64_t width = std::min(kBlock, n - c);
      const std::int64_t depth = std::max<std::int64_t>(kNear / width / 4 * 4, 4);
      for (std::int64_t d = 0; d < k; d += depth) {
        const std::int64_t size = std::min(depth, k - d), fours = size / 4 * 4;
        const T* const from = right.data + d * right.row_stride + c;
        for (std::int64_t r = 4 * begin; r < last; r += 4) {
          const T* const a = left.data + r * left.row_stride + d * left.col_stride;
          const std::int64_t whole = r + 4 <= last ? fours : 0;
          if (whole)
            add_to_four_rows<T>(width, whole, {a, 4, size, left.row_stride, left.col_stride}, from,
                                right.row_stride, sums + r * n + c, n);
          for (std::int64_t i = 0; i < std::min<std::int64_t>(4, last - r) && whole < size; ++i)
            add_rows(width, size - whole, a + i * left.row_stride + whole * left.col_stride,
                     left.col_stride, from + whole * right.row_stride, right.row_stride,
                     sums + (r + i) * n + c);
        }
        check_interrupt();
      }
    }
  });
}

// Each result by itself: of a few products, or of rows by rows.
template <class T>
void dot_products(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
                  const StridedMatrix<T>& out, T alpha, T beta) {
  using U = Wrapping<T>;
  const bool in_rows = left.col_stride == 1 && right.row_stride == 1 && left.cols >= kLongDot;
  for (std::int64_t i = 0; i < out.rows; ++i) {
    for (std::int64_t j = 0; j < out.cols; ++j) {
      const T *a = left.data + i * left.row_stride, *b = right.data + j * right.col_stride;
      T& o = out.data[i * out.row_stride + j * out.col_stride];
      if (in_rows) {
        o = finished(dot(left.cols, a, b), alpha, beta, o);
        continue;
      }
      U sum = 0;
      for (std::int64_t k = left.cols; k > 0; --k, a += left.col_stride, b += right.row_stride)
        sum += U(*a) * U(*b);
      o = finished(T(sum), alpha, beta, o);
    }
    if (in_rows) check_interrupt();
  }
}

}  // namespace

template <class T>
void integer_product(StridedMatrix<const T> left, StridedMatrix<const T> right,
                     StridedMatrix<T> out, T alpha, T beta) {
  const std::int64_t m = out.rows, n = out.cols, k = left.cols;
  if (m == 0 || n == 0) return;
  constexpr std::int64_t kTiny = 256, kNarrow = 64;  // products; rows and columns
  constexpr std::int64_t kLongestDot = 1 << 22;      // sums that wrap may be cut anywhere
  const bool is_narrow = m <= kNarrow && n <= kNarrow;
  if (is_narrow &&
      (m * n * k <= kTiny || (left.col_stride == 1 && right.row_stride == 1 && k >= kLongDot)))
    return dot_products<T>(left, right, out, alpha, beta);
  std::vector<T> copy, sums;
  if (n == 1 && (left.row_stride != 1 || m == 1)) {
    for (std::int64_t d = 0; d == 0 || d < k; d += kLongestDot) {
      if (d) check_interrupt();
      const std::int64_t depth = std::min(kLongestDot, k - d);
      const StridedMatrix<const T> row =
          with_rows(StridedMatrix<const T>{right.data + d * right.row_stride, 1, depth,
                                           right.col_stride, right.row_stride},
                    copy);
      parallel_for(m, 1 + 65536 / std::max<std::int64_t>(depth, 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       T& o = out.data[i * out.row_stride];
                       const T* a = left.data + i * left.row_stride + d * left.col_stride;
                       o = finished(dot(depth, a, left.col_stride, row.data), alpha,
                                    d ? T(1) : beta, o);
                     }
                   });
    }
    return;
  }
  if (n == 1)
    return integer_product(transposed(right), transposed(left), transposed(out), alpha, beta);
  right = with_rows(right, copy);
  if (out.col_stride == 1 && out.row_stride == n && alpha == T(1) && beta == T(0))
    return product(left, right, n, out.data);
  sums.resize(std::size_t(m * n));
  product(left, right, n, sums.data());
  parallel_for(m, 1 + 65536 / n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T& o = out.data[i * out.row_stride + j * out.col_stride];
        o = finished(sums[std::size_t(i * n + j)], alpha, beta, o);
      }
  });
}

template void integer_product(StridedMatrix<const std::uint8_t>, StridedMatrix<const std::uint8_t>,
                              StridedMatrix<std::uint8_t>, std::uint8_t, std::uint8_t);
template void integer_product(StridedMatrix<const std::int8_t>, StridedMatrix<const std::int8_t>,
                              StridedMatrix<std::int8_t>, std::int8_t, std::int8_t);
template void integer_product(StridedMatrix<const std::int16_t>, StridedMatrix<const std::int16_t>,
                              StridedMatrix<std::int16_t>, std::int16_t, std::int16_t);
template void integer_product(StridedMatrix<const std::int32_t>, StridedMatrix<const std::int32_t>,
                              StridedMatrix<std::int32_t>, std::int32_t, std::int32_t);
template void integer_product(StridedMatrix<const std::int64_t>, StridedMatrix<const std::int64_t>,
                              StridedMatrix<std::int64_t>, std::int64_t, std::int64_t);

}  // namespace rushlight
