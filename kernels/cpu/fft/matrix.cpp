// Columns of a long line, on their way to its rows: each tile of kGroup rows and columns is
// transposed.
#include "matrix.h"

#include "kernels/cpu/wide_vector.h"
#include "kernels/host_device.h"
#include "vectors.h"

namespace rushlight::fft {
namespace {

template <class T>
CLONES void turn_group(Planes<T> x, Index rows, const T* group, const T* inside) {
  for (Index row = 0; row < rows; ++row) {
    const T c = group[2 * row], d = group[2 * row + 1];
    const T* const re = inside + 2 * row * kGroup;
    const T* const im = re + kGroup;
    T* const xr = x.re + row * kGroup;
    T* const xi = x.im + row * kGroup;
    for (Index l = 0; l < kGroup; ++l) {
      const T u = c * re[l] - d * im[l], v = c * im[l] + d * re[l];
      const T a = xr[l], b = xi[l];
      xr[l] = a * u - b * v;
      xi[l] = a * v + b * u;
    }
  }
}

// to[column][kGroup] := from[row][kGroup], of as many rows and columns.
template <class T>
CLONES void transpose(const T* from, Index rows, Index columns, T* to) {
  for (Index c = 0; c < columns; ++c)
    for (Index r = 0; r < rows; ++r) to[c * kGroup + r] = from[r * kGroup + c];
}
#if defined(__x86_64__)
template <class T>
[[gnu::target("arch=x86-64-v4")]] void transpose_tile(const T* from, T* to) {
  constexpr int n = 64 / sizeof(T);
  using V = typename VectorOf<T, n>::type;
  for (Index i = 0; i < kGroup; i += n)
    for (Index j = 0; j < kGroup; j += n) {
      V t[n];
#pragma GCC unroll 16
      for (int k = 0; k < n; ++k) t[k] = load_vector<V>(from + (i + k) * kGroup + j);
      by_columns<n, n>(t);
#pragma GCC unroll 16
      for (int k = 0; k < n; ++k) store_vector(to + (j + k) * kGroup + i, t[k]);
    }
}
#endif

template <class T>
void to_tiles(const T* from, Index rows, Index columns, Index width, T* to) {
  for (Index row = 0; row < rows; row += kGroup, from += kGroup * kGroup, to += kGroup * width) {
    const Index height = std::min(kGroup, rows - row);
#if defined(__x86_64__)
    if (height == kGroup && columns == kGroup && uses_wide_vectors()) {
      transpose_tile(from, to);
      continue;
    }
#endif
    if (height < kGroup) std::fill(to, to + columns * kGroup, T(0));
    transpose(from, height, columns, to);
  }
}

}  // namespace

template <class T>
void columns_to_tiles(const Plan<T>& plan, Index group, Planes<T> x, Planes<T> other,
                      Planes<T> tiles) {
  const Index height = plan.columns->n, width = plan.rows->n, first = group * kGroup;
  const Index count = std::min(kGroup, width - first);
  const Planes<T> made = run_passes(*plan.columns, kGroup, x, other);
  turn_group(made, height, plan.groups.data() + 2 * group * height, plan.inside.data());
  to_tiles(made.re, height, count, width, tiles.re + first * kGroup);
  to_tiles(made.im, height, count, width, tiles.im + first * kGroup);
}
template void columns_to_tiles(const Plan<float>&, Index, Planes<float>, Planes<float>,
                               Planes<float>);
template void columns_to_tiles(const Plan<double>&, Index, Planes<double>, Planes<double>,
                               Planes<double>);

}  // namespace rushlight::fft
