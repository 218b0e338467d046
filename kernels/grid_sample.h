// Sampling an input at the positions of a grid. Which elements a position takes along one axis,
// with what weights and slopes, is written here once for all devices.
#pragma once
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

  HOST_DEVICE Index plane() const { return in[0] * in[1] * in[2]; }
};

// From [-1, 1] to an axis: the centres of its corner elements if they are aligned, else their
// edges. `slope` is the derivative.
template <class T>
HOST_DEVICE inline T grid_position(T g, std::int64_t size, bool align, T& slope) {
  slope = (align ? T(size - 1) : T(size)) / 2;
  return align ? (g + 1) / 2 * T(size - 1) : ((g + 1) * T(size) - 1) / 2;
}

// Positions outside, by the padding mode; "zeros" leaves them. No slope outside, nor on the edge;
// a NaN becomes 0.
template <class T>
HOST_DEVICE inline T grid_padded(T x, std::int64_t size, GridPadding padding, bool align,
                                 T& slope) {
  if (padding == GridPadding::zeros) return x;
  const T top = T(size - 1);
  if (padding == GridPadding::reflection) {
    const T low = align ? T(0) : T(-0.5), span = align ? top : T(size);
    T away = x - low;
    slope = away < 0 ? -slope : slope;
    away = away < 0 ? -away : away;
    const T flips = span > 0 ? floor(away / span) : T(0), rest = span > 0 ? away - flips * span : 0;
    const bool mirrored = floor(flips / 2) * 2 != flips;
    slope = span > 0 ? (mirrored ? -slope : slope) : T(0);
    x = mirrored ? span - rest + low : rest + low;
    x = span > 0 ? x : T(0);
  }
  slope = (x > 0) & (x < top) ? slope : T(0);
  x = x > 0 ? x : T(0);
  return x < top ? x : top;
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

// The taps of one position along an axis: element (or -1), weight, and the weight's slope by the
// position, `stride` apart.
template <GridMode Mode, class T>
HOST_DEVICE inline void grid_axis(T x, std::int64_t size, GridPadding padding, bool align, int* at,
                                  T* weight, T* slope, std::int64_t stride) {
  if constexpr (Mode == GridMode::nearest) {
    at[0] = grid_element(round(x), size);
    weight[0] = 1;
    slope[0] = 0;
  } else if constexpr (Mode == GridMode::bilinear) {
    const T f = floor(x);
    at[0] = grid_element(f, size);
    at[stride] = grid_element(f + 1, size);
    weight[0] = f + 1 - x;
    weight[stride] = x - f;
    slope[0] = -1;
    slope[stride] = 1;
  } else {
    const T f = floor(x), t = x - f, a = T(-0.75);
    cubic_weights(t, weight, stride);
    // the derivatives of cubic_far and cubic_near
    const T u = t + 1, v = 1 - t, w = 2 - t;
    slope[0] = (3 * a * u - 10 * a) * u + 8 * a;
    slope[stride] = (3 * (a + 2) * t - 2 * (a + 3)) * t;
    slope[2 * stride] = -((3 * (a + 2) * v - 2 * (a + 3)) * v);
    slope[3 * stride] = -((3 * a * w - 10 * a) * w + 8 * a);
    for (int k = 0; k < 4; ++k) {
      T unused = 0;
      // A mirror image of a whole position can lie between two where corners are not aligned.
      at[k * stride] =
          grid_element(trunc(grid_padded(f + T(k - 1), size, padding, align, unused)), size);
    }
  }
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
