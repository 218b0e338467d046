// Sampling an input at the positions of a grid. Which elements a position takes along one axis,
// with what weights and slopes, is written here once for all devices.
#pragma once
#include <type_traits>

#include "resample.h"

namespace rushlight {

enum class GridMode : std::uint8_t { bilinear, nearest, bicubic };
enum class GridPadding : std::uint8_t { zeros, border, reflection };

// input (n, channels, in...), grid (n, points, rank), out (n, channels, points). Axes are depth,
// height, width, depth of size 1 for rank 2; the grid's last dimension is x, y, z.
struct GridShape {
  using Index = std::int64_t;
  int rank;
  Index n, channels, points, in[3];
  GridMode mode;
  GridPadding padding;
  bool align_corners;
  bool inside;  // the input is (n, in..., channels), of rank 2; on the CPU alone

  HOST_DEVICE Index plane() const { return in[0] * in[1] * in[2]; }
};

// From [-1, 1] to an axis: the centres of its corner elements if they are aligned, else their
// edges. `slope` is the derivative. T may be Value (csrc/ops/value.h) here and in what follows.
template <class T>
HOST_DEVICE inline T grid_position(T g, std::int64_t size, bool align, T& slope) {
  slope = T(double(align ? size - 1 : size) / 2);
  return align ? (g + T(1)) / T(2) * T(size - 1) : ((g + T(1)) * T(size) - T(1)) / T(2);
}

// Positions outside, by the padding mode; "zeros" leaves them. No slope outside, nor on the edge;
// a NaN becomes 0.
template <class T>
HOST_DEVICE inline T grid_padded(T x, std::int64_t size, GridPadding padding, bool align,
                                 T& slope) {
  if (padding == GridPadding::zeros) return x;
  const T top = T(size - 1), zero = T(0);
  if (padding == GridPadding::reflection && align && size == 1) {
    slope = zero;
    x = x * zero;
  } else if (padding == GridPadding::reflection) {
    const T low = align ? zero : T(-0.5), span = align ? top : T(size);
    T away = x - low;
    const auto before = away < zero;
    slope = where(before, -slope, slope);
    away = where(before, -away, away);
    const T flips = floor(away / span), rest = away - flips * span;
    const auto mirrored = floor(flips / T(2)) * T(2) != flips;
    slope = where(mirrored, -slope, slope);
    x = where(mirrored, span - rest + low, rest + low);
  }
  slope = where((x > zero) & (x < top), slope, zero);
  x = where(x > zero, x, zero);
  return where(x < top, x, top);
}

// The element at whole position f, or -1 outside.
template <class T>
HOST_DEVICE inline int grid_element(T f, std::int64_t size) {
  const bool inside = (f >= 0) & (f < T(size));
  return inside ? int(inside ? f : T(0)) : -1;
}

inline constexpr int grid_taps(GridMode mode) {
  return mode == GridMode::nearest ? 1 : mode == GridMode::bilinear ? 2 : 4;
}

// The whole position that a position is counted from.
template <GridMode Mode, class T>
HOST_DEVICE inline T grid_whole(T x) {
  if constexpr (Mode == GridMode::nearest)
    return round(x);
  else
    return floor(x);
}

// The whole position of tap k. A mirror image can lie between two where corners are not aligned.
template <GridMode Mode, class T>
HOST_DEVICE inline T grid_tap(T whole, int k, std::int64_t size, GridPadding padding, bool align) {
  if constexpr (Mode == GridMode::bicubic) {
    T unused = T(0);
    return trunc(grid_padded(whole + T(k - 1), size, padding, align, unused));
  } else {
    return whole + T(k);
  }
}

// The taps' weights, and their slopes by the position, `stride` apart.
template <GridMode Mode, class T>
HOST_DEVICE inline void grid_weights(T x, T whole, T* weight, T* slope, std::int64_t stride) {
  if constexpr (Mode == GridMode::nearest) {
    weight[0] = T(1);
    slope[0] = T(0);
  } else if constexpr (Mode == GridMode::bilinear) {
    weight[0] = whole + T(1) - x;
    weight[stride] = x - whole;
    slope[0] = T(-1);
    slope[stride] = T(1);
  } else {
    const T t = x - whole, a = T(-0.75);
    cubic_weights(t, weight, stride);
    // the derivatives of cubic_far and cubic_near
    const T u = t + T(1), v = T(1) - t, w = T(2) - t;
    slope[0] = (T(3) * a * u - T(10) * a) * u + T(8) * a;
    slope[stride] = (T(3) * (a + T(2)) * t - T(2) * (a + T(3))) * t;
    slope[2 * stride] = -((T(3) * (a + T(2)) * v - T(2) * (a + T(3))) * v);
    slope[3 * stride] = -((T(3) * a * w - T(10) * a) * w + T(8) * a);
  }
}

// The taps of one position along an axis: element (or -1), weight, and the weight's slope.
template <GridMode Mode, class T>
HOST_DEVICE inline void grid_axis(T x, std::int64_t size, GridPadding padding, bool align, int* at,
                                  T* weight, T* slope, std::int64_t stride) {
  const T whole = grid_whole<Mode>(x);
  for (int k = 0; k < grid_taps(Mode); ++k)
    at[k * stride] = grid_element(grid_tap<Mode>(whole, k, size, padding, align), size);
  grid_weights<Mode>(x, whole, weight, slope, stride);
}

// Calls f(rank, mode) with both as types: std::integral_constant.
template <class F>
void dispatch_grid(const GridShape& s, F f) {
  using Two = std::integral_constant<int, 2>;
  using Three = std::integral_constant<int, 3>;
  if (s.mode == GridMode::bicubic)
    f(Two{}, std::integral_constant<GridMode, GridMode::bicubic>{});
  else if (s.mode == GridMode::nearest)
    s.rank == 2 ? f(Two{}, std::integral_constant<GridMode, GridMode::nearest>{})
                : f(Three{}, std::integral_constant<GridMode, GridMode::nearest>{});
  else
    s.rank == 2 ? f(Two{}, std::integral_constant<GridMode, GridMode::bilinear>{})
                : f(Three{}, std::integral_constant<GridMode, GridMode::bilinear>{});
}

// Views are contiguous, of one floating dtype; a plane has at most 2^31 - 1 elements.
struct GridSampleKernels {
  void (*forward)(const GridShape& s, const View& input, const View& grid, const View& out);
  // Either result may be null.
  void (*backward)(const GridShape& s, const View& grad, const View& input, const View& grid,
                   const View* grad_input, const View* grad_grid);
};

extern const GridSampleKernels cpu_grid_sample;

}  // namespace rushlight
