// The sums of a few rows stay in registers. `right` is read where it lies if its rows fill whole
// vectors, else from a copy with zeros beside it.
#include "narrow_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "register_tile.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kWidest = 64;  // bytes of a vector

template <class T, int kBytes>
struct NarrowVector {
  using type __attribute__((vector_size(kBytes))) = T;
};

// Fewer elements than a vector of kBytes has, in pieces of known sizes.
template <int kBytes, class T>
[[gnu::always_inline]] inline void copy_first(T* to, const T* from, Index n) {
  if constexpr (kBytes > Index(sizeof(T))) {
    constexpr Index half = kBytes / 2 / Index(sizeof(T));
    if (n & half) {
      std::memcpy(to, from, kBytes / 2);
      to += half, from += half;
    }
    copy_first<kBytes / 2>(to, from, n);
  }
}

template <class T>
struct Operands {
  ProductSize size;
  T alpha, beta;
  const T* left;
  Steps left_steps;
  const T* panel;  // rows of a vector
  Index panel_step;
  T* out;
  Index ld;
};

// kRows rows of the result from row r on; what lies beyond the last is not stored.
template <int kBytes, int kVectors, int kRows, class T>
[[gnu::always_inline]] inline void rows_by_panel(const Operands<T>& o, Index r) {
  using V = typename NarrowVector<T, kBytes>::type;
  constexpr Index kLanes = kBytes / Index(sizeof(T));
  const auto [m, n, k] = o.size;
  V sums[kRows][kVectors] = {};
  const T* a[kRows];
#pragma GCC unroll 6
  for (int q = 0; q < kRows; ++q) a[q] = o.left + std::min(r + q, m - 1) * o.left_steps.row;
  const Index step = o.left_steps.column;
  for (Index i = 0; i < k; ++i) {
    V b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      std::memcpy(&b[v], o.panel + i * o.panel_step + v * kLanes, sizeof(V));
#pragma GCC unroll 6
    for (int q = 0; q < kRows; ++q)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[q][v] += a[q][i * step] * b[v];
  }
#pragma GCC unroll 6
  for (int q = 0; q < kRows; ++q) {
    if (r + q >= m) return;
    T* const to = o.out + (r + q) * o.ld;
    const bool is_whole = n == kVectors * kLanes && o.beta == T(0);
    alignas(kBytes) T row[kVectors * kLanes];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const V scaled = o.alpha * sums[q][v];
      std::memcpy((is_whole ? to : row) + v * kLanes, &scaled, sizeof scaled);
    }
    if (is_whole) continue;
    if (o.beta == T(0))
      copy_first<kVectors * kBytes>(to, row, n);
    else
      for (Index j = 0; j < n; ++j) to[j] = row[j] + o.beta * to[j];
  }
}

// With n up to the lanes of the vectors. `copy` has room for k rows of them.
template <int kBytes, int kVectors, class T>
CLONES_512 void product(Operands<T> o, Steps right_steps, T* copy) {
  constexpr Index kLanes = kBytes / Index(sizeof(T)), kWide = kVectors * kLanes;
  const auto [m, n, k] = o.size;
  if (n != kWide || right_steps.column != 1) {
    const T* const right = o.panel;
    if (n != kWide)
      for (Index i = 1; i <= k; ++i) std::memset(copy + i * kWide - kLanes, 0, kBytes);
    if (right_steps.column == 1)
      for (Index i = 0; i < k; ++i)
        copy_first<2 * kVectors * kBytes>(copy + i * kWide, right + i * right_steps.row, n);
    else if (right_steps.row == 1)
      transpose(right, right_steps.column, n, k, copy, kWide);
    else
      for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < n; ++j)
          copy[i * kWide + j] = right[i * right_steps.row + j * right_steps.column];
    o.panel = copy;
    o.panel_step = kWide;
  }
  Index r = 0;
  for (; m - r > 4; r += 6) rows_by_panel<kBytes, kVectors, 6>(o, r);
  if (m - r > 2)
    rows_by_panel<kBytes, kVectors, 4>(o, r);
  else if (m > r)
    rows_by_panel<kBytes, kVectors, 2>(o, r);
}

}  // namespace

template <class T>
void narrow_gemm(ProductSize size, T alpha, const T* left, Steps left_steps, const T* right,
                 Steps right_steps, T beta, T* out, std::int64_t ld) {
  static const bool has_wide_vectors = tiles().width == 16;  // else two fill the registers
  alignas(kWidest) T copy[kNarrowCopy / Index(sizeof(T))];
  const Index at_once = (has_wide_vectors ? kNarrowBytes : kWidest) / Index(sizeof(T));
  for (Index c = 0; c < size.n; c += at_once) {
    const Index n = std::min(at_once, size.n - c), bytes = n * Index(sizeof(T));
    const Operands<T> o{
        {size.m, n, size.k}, alpha,   beta, left, left_steps, right + c * right_steps.column,
        right_steps.row,     out + c, ld};
    const auto run = [&](auto product) { product(o, right_steps, copy); };
    if (bytes <= 16)
      run(product<16, 1, T>);
    else if (bytes <= 32)
      run(product<32, 1, T>);
    else if (bytes <= kWidest)
      run(product<kWidest, 1, T>);
    else
      run(product<kWidest, 2, T>);
  }
}

template void narrow_gemm(ProductSize, float, const float*, Steps, const float*, Steps, float,
                          float*, std::int64_t);
template void narrow_gemm(ProductSize, double, const double*, Steps, const double*, Steps, double,
                          double*, std::int64_t);

}  // namespace rushlight
