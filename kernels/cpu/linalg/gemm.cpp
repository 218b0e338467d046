// The serial product behind gemm.h. Note: the built-in way must serve every shape,
// since OpenBLAS may be absent; it is a third as fast, and a normal build never takes it.
#include "gemm.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/host_device.h"
#include "narrow_gemm.h"
#include "openblas.h"
#include "register_tile.h"
#include "tile_gemm.h"

namespace rushlight {
namespace {

template <class T>
T element(Matrix<const T> m, std::int64_t row, std::int64_t col) {
  return *m.block(row, col).data;
}

template <class T>
Steps strides_of(Matrix<const T> m) {
  return m.transposed ? Steps{1, m.ld} : Steps{m.ld, 1};
}

template <class T>
CLONES_512 void add_row(std::int64_t n, T a, const T* b, T* out) {
  for (std::int64_t j = 0; j < n; ++j) out[j] += a * b[j];
}

// One row of the result at a time; `right` is copied once where its rows are not contiguous.
template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const T> left,
             Matrix<const T> right, T* sums) {
  std::vector<T> copy;
  if (right.transposed) {
    copy.resize(k * n);
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < n; ++j) copy[i * n + j] = element(right, i, j);
    right = {copy.data(), n};
  }
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      add_row(n, element(left, i, j), right.data + j * right.ld, sums + i * n);
}

// Float: the convolution's register tile, `left` packed as [block][k][P], `right` as
// [panel][k][16].
void product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> left,
             Matrix<const float> right, float* sums) {
  const Tiles& t = tiles();
  const std::int64_t panels = (n + kPanel - 1) / kPanel, wide = panels * kPanel;
  std::vector<float> a(k * t.p), b(panels * k * kPanel), transposed(t.p * wide);
  const std::vector<float> zeros(wide);
  std::vector<int> off(k);
  for (std::int64_t i = 0; i < k; ++i) off[i] = int(i * t.p);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < k; ++i)
      b[(j / kPanel * k + i) * kPanel + j % kPanel] = element(right, i, j);
  for (std::int64_t r = 0; r < m; r += t.p) {
    const std::int64_t p = std::min(t.p, m - r);
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t q = 0; q < p; ++q) a[i * t.p + q] = element(left, r + q, i);
    for (std::int64_t c = 0; c < panels; c += t.panels) {
      const std::int64_t used = std::min(t.panels, panels - c);
      t.tile[used - 1][p - 1]({a.data(), off.data(), 1, k, k, &b[c * k * kPanel], k * kPanel,
                               &transposed[c * kPanel], wide, zeros.data()});
    }
    for (std::int64_t q = 0; q < p; ++q) std::copy_n(&transposed[q * wide], n, sums + (r + q) * n);
  }
}

// In blocks of k, so that packed pieces stay in the cache and their offsets in an int.
template <class T>
void built_in(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
              Matrix<const T> right, T beta, Matrix<T> out) {
  constexpr std::int64_t kRows = 256, kCols = 512, kDepth = 512;
  std::vector<T> sums(std::min(m, kRows) * std::min(n, kCols));
  for (std::int64_t r = 0; r < m; r += kRows)
    for (std::int64_t c = 0; c < n; c += kCols) {
      const std::int64_t rows = std::min(kRows, m - r), cols = std::min(kCols, n - c);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
          T& o = *out.block(r + i, c + j).data;
          o = beta == T(0) ? T(0) : beta * o;
        }
      for (std::int64_t d = 0; d < k; d += kDepth) {
        std::fill(sums.begin(), sums.end(), T(0));
        product(rows, cols, std::min(kDepth, k - d), left.block(r, d), right.block(d, c),
                sums.data());
        for (std::int64_t i = 0; i < rows; ++i)
          add_row(cols, alpha, &sums[i * cols], out.block(r + i, c).data);
      }
    }
}

}  // namespace

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
          Matrix<const T> right, T beta, Matrix<T> out) {
  if (is_narrow<T>(m, n, k))
    return narrow_gemm<T>({m, n, k}, alpha, left.data, strides_of(left), right.data,
                          strides_of(right), beta, out.data, out.ld);
  if (tile_gemm<T>(strided(left, m, k), strided(right, k, n),
                   output_of(strided(out, m, n), alpha, beta)))
    return;
  using B = Blas<T>;
  const B& library = blas<T>();
  if (!library.gemm) return built_in(m, n, k, alpha, left, right, beta, out);
  const int a = left.transposed ? B::kTransposed : B::kPlain;
  const int b = right.transposed ? B::kTransposed : B::kPlain;
  if (n == 1 && library.gemv)
    return library.gemv(B::kRowMajor, a, int(left.transposed ? k : m), int(left.transposed ? m : k),
                        alpha, left.data, int(left.ld), right.data,
                        right.transposed ? 1 : int(right.ld), beta, out.data, int(out.ld));
  if (m == 1 && library.gemv)
    return library.gemv(B::kRowMajor, right.transposed ? B::kPlain : B::kTransposed,
                        int(right.transposed ? n : k), int(right.transposed ? k : n), alpha,
                        right.data, int(right.ld), left.data, left.transposed ? int(left.ld) : 1,
                        beta, out.data, 1);
  library.gemm(B::kRowMajor, a, b, int(m), int(n), int(k), alpha, left.data, int(left.ld),
               right.data, int(right.ld), beta, out.data, int(out.ld));
}

template void gemm(std::int64_t, std::int64_t, std::int64_t, float, Matrix<const float>,
                   Matrix<const float>, float, Matrix<float>);
template void gemm(std::int64_t, std::int64_t, std::int64_t, double, Matrix<const double>,
                   Matrix<const double>, double, Matrix<double>);

}  // namespace rushlight
