// Rows of the result are sums of rows of `right`, four at a time, so that a sum is loaded and
// stored once for four multiplications; a single column is a dot product for each row.
#include "integer_product.h"

#include <algorithm>
#include <type_traits>
#include <vector>

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
template <class T>
CLONES T dot(std::int64_t n, const T* a, const T* b) {
  using U = Wrapping<T>;
  U sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += U(a[j]) * U(b[j]);
  return T(sum);
}
template <class T>
T finished(T sum, T alpha, T beta, const T& out) {
  using U = Wrapping<T>;
  const U scaled = U(alpha) * U(sum);
  return T(beta == T(0) ? scaled : U(scaled + U(beta) * U(out)));
}

// Reads m where its rows are contiguous, else from a copy.
template <class T>
Strided<const T> with_rows(const Strided<const T>& m, std::vector<T>& copy) {
  if (m.col_stride == 1) return m;
  copy.resize(std::size_t(m.rows * m.cols));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.cols; ++j)
      copy[std::size_t(i * m.cols + j)] = m.data[i * m.row_stride + j * m.col_stride];
  return {copy.data(), m.rows, m.cols, m.cols, 1};
}

// sums[0, n) = the row `left` times k rows of `right`, from `first` on
template <class T>
CLONES void add_rows(std::int64_t n, std::int64_t k, const T* left, std::int64_t step,
                     const Strided<const T>& right, std::int64_t first, T* sums) {
  std::int64_t j = 0;
  for (; j + 4 <= k; j += 4) {
    const T a[] = {left[j * step], left[(j + 1) * step], left[(j + 2) * step],
                   left[(j + 3) * step]};
    add_four_products(n, a, right.data + j * right.row_stride + first, right.row_stride, sums);
  }
  for (; j < k; ++j)
    add_product(n, left[j * step], right.data + j * right.row_stride + first, sums);
}

}  // namespace

template <class T>
void integer_product(Strided<const T> left, Strided<const T> right, Strided<T> out, T alpha,
                     T beta) {
  const std::int64_t n = out.cols, k = left.cols;
  std::vector<T> copy, left_copy;
  if (n == 1 && (left.col_stride == 1 || out.rows == 1)) {
    const Strided<const T> row = with_rows(transposed(right), copy);
    const Strided<const T> rows = with_rows(left, left_copy);
    return parallel_for(out.rows, 1 + 65536 / std::max<std::int64_t>(k, 1),
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i) {
                            T& o = out.data[i * out.row_stride];
                            o = finished(dot(k, rows.data + i * rows.row_stride, row.data), alpha,
                                         beta, o);
                          }
                        });
  }
  if (n == 1)
    return integer_product(transposed(right), transposed(left), transposed(out), alpha, beta);
  right = with_rows(right, copy);
  constexpr std::int64_t kBlock = 4096;  // of the sums, so that they stay in the nearest cache
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  const std::int64_t work = std::max<std::int64_t>(k * std::min(n, kBlock), 1);
  const bool direct = out.col_stride == 1 && alpha == T(1) && beta == T(0);
  parallel_for(out.rows * blocks, 1 + 65536 / work, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> own(direct ? 0 : std::size_t(std::min(n, kBlock)));
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t i = at / blocks, first = at % blocks * kBlock;
      const std::int64_t size = std::min(kBlock, n - first);
      T* const to = out.data + i * out.row_stride + first * out.col_stride;
      T* const sums = direct ? to : own.data();
      std::fill_n(sums, size, T(0));
      add_rows(size, k, left.data + i * left.row_stride, left.col_stride, right, first, sums);
      for (std::int64_t j = 0; j < size && !direct; ++j)
        to[j * out.col_stride] = finished(sums[j], alpha, beta, to[j * out.col_stride]);
    }
  });
}

template void integer_product(Strided<const std::uint8_t>, Strided<const std::uint8_t>,
                              Strided<std::uint8_t>, std::uint8_t, std::uint8_t);
template void integer_product(Strided<const std::int8_t>, Strided<const std::int8_t>,
                              Strided<std::int8_t>, std::int8_t, std::int8_t);
template void integer_product(Strided<const std::int16_t>, Strided<const std::int16_t>,
                              Strided<std::int16_t>, std::int16_t, std::int16_t);
template void integer_product(Strided<const std::int32_t>, Strided<const std::int32_t>,
                              Strided<std::int32_t>, std::int32_t, std::int32_t);
template void integer_product(Strided<const std::int64_t>, Strided<const std::int64_t>,
                              Strided<std::int64_t>, std::int64_t, std::int64_t);

}  // namespace rushlight
