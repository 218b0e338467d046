// The sums of four rows stay in registers. `right` is read where it lies if its rows fill whole
// vectors, else from a copy with zeros beside it.
#include "narrow_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/host_device.h"

namespace rushlight {
namespace {

template <class T, int kBytes>
struct Lanes;
template <>
struct Lanes<float, 16> {
  using type = float __attribute__((vector_size(16)));
};
template <>
struct Lanes<float, 32> {
  using type = float __attribute__((vector_size(32)));
};
template <>
struct Lanes<double, 32> {
  using type = double __attribute__((vector_size(32)));
};

template <int kBytes, int kVectors, class T>
CLONES_512 void product(ProductSize size, T alpha, const T* left, Steps left_steps, const T* right,
                        Steps right_steps, T beta, T* out, std::int64_t ld) {
  using V = typename Lanes<T, kBytes>::type;
  constexpr std::int64_t kLanes = kBytes / std::int64_t(sizeof(T)), kWide = kVectors * kLanes,
                         kRows = 4;
  const auto [m, n, k] = size;
  alignas(32) T copy[kNarrowDepth * kWide];
  const T* panel = right;
  std::int64_t panel_step = right_steps.row;
  if (n != kWide || right_steps.column != 1) {
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < kWide; ++j)
        copy[i * kWide + j] = j < n ? right[i * right_steps.row + j * right_steps.column] : T(0);
    panel = copy;
    panel_step = kWide;
  }
  for (std::int64_t r = 0; r < m; r += kRows) {
    V sums[kRows][kVectors] = {};
    const T* a[kRows];
    for (std::int64_t q = 0; q < kRows; ++q) a[q] = left + std::min(r + q, m - 1) * left_steps.row;
    for (std::int64_t i = 0; i < k; ++i)
      for (int v = 0; v < kVectors; ++v) {
        V b;
        std::memcpy(&b, panel + i * panel_step + v * kLanes, sizeof b);
        for (std::int64_t q = 0; q < kRows; ++q) sums[q][v] += a[q][i * left_steps.column] * b;
      }
    for (std::int64_t q = 0; q < std::min(kRows, m - r); ++q) {
      T* o = out + (r + q) * ld;
      if (n == kWide && beta == T(0)) {
        for (int v = 0; v < kVectors; ++v) {
          const V scaled = alpha * sums[q][v];
          std::memcpy(o + v * kLanes, &scaled, sizeof scaled);
        }
        continue;
      }
      alignas(32) T row[kWide];
      std::memcpy(row, sums[q], sizeof row);
      for (std::int64_t j = 0; j < n; ++j)
        o[j] = beta == T(0) ? alpha * row[j] : alpha * row[j] + beta * o[j];
    }
  }
}

}  // namespace

template <class T>
void narrow_gemm(ProductSize size, T alpha, const T* left, Steps left_steps, const T* right,
                 Steps right_steps, T beta, T* out, std::int64_t ld) {
  constexpr std::int64_t kLanes = 32 / std::int64_t(sizeof(T));
  const auto run = [&](auto product) {
    product(size, alpha, left, left_steps, right, right_steps, beta, out, ld);
  };
  if constexpr (sizeof(T) == 4)
    if (size.n <= 4) return run(product<16, 1, T>);
  if (size.n <= kLanes) return run(product<32, 1, T>);
  run(product<32, 2, T>);
}

template void narrow_gemm(ProductSize, float, const float*, Steps, const float*, Steps, float,
                          float*, std::int64_t);
template void narrow_gemm(ProductSize, double, const double*, Steps, const double*, Steps, double,
                          double*, std::int64_t);

}  // namespace rushlight
