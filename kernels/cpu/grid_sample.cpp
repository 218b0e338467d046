// Sampling at the positions of a grid, a block of them at a time: first where each tap lies and
// what it weighs, for all channels, then the channels. The loops run along the block.
#include "../grid_sample.h"

#include <algorithm>
#include <bit>

#include "../host_device.h"
#include "../parallel.h"
#include "convert.h"
#include "scratch.h"
#include "transpose.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr int kBlock = 128;

// Of a block of positions: for each tap its offset in a plane (-1 outside), its weight, and the
// weight's slopes by the position's coordinates.
template <class T, int Rank, GridMode Mode>
struct Block {
  static constexpr int kAxis = grid_taps(Mode),
                       kTaps = Rank == 2 ? kAxis * kAxis : kAxis * kAxis * kAxis;
  int at[Rank][kAxis * kBlock];
  T weight[Rank][kAxis * kBlock], slope[Rank][kAxis * kBlock];  // of each axis
  T x[kBlock], outer[Rank][kBlock];  // outer: the slope of the position by the grid
  int offset[kTaps][kBlock];
  T share[kTaps][kBlock];
  T slopes[Rank][kTaps][kBlock];
  bool inside;  // all taps
};

template <int Rank, class T>
CLONES_512 void read_positions(const T* __restrict grid, int n, Index size, bool align,
                               T* __restrict x, T* __restrict outer) {
  if (align)
    for (int i = 0; i < n; ++i) x[i] = grid_position(grid[i * Rank], size, true, outer[i]);
  else
    for (int i = 0; i < n; ++i) x[i] = grid_position(grid[i * Rank], size, false, outer[i]);
}
template <class T>
CLONES void pad_positions(int n, Index size, GridPadding padding, bool align, T* x, T* outer) {
  if (padding == GridPadding::border)
    for (int i = 0; i < n; ++i)
      x[i] = grid_padded(x[i], size, GridPadding::border, align, outer[i]);
  else if (padding == GridPadding::reflection)
    for (int i = 0; i < n; ++i)
      x[i] = grid_padded(x[i], size, GridPadding::reflection, align, outer[i]);
}
template <GridMode Mode, class T>
CLONES_512 void find_taps(const T* x, int n, Index size, GridPadding padding, bool align, int* at,
                          T* weight, T* slope) {
  for (int i = 0; i < n; ++i)
    grid_axis<Mode>(x[i], size, padding, align, at + i, weight + i, slope + i, kBlock);
}

// offset = outer * size + inner where both are inside; whether all are. The product of weights.
CLONES_512 bool join_offsets(const int* __restrict outer, const int* __restrict inner, int size,
                             int n, int* __restrict out) {
  int signs = 0;
  for (int i = 0; i < n; ++i) {
    const int outside = (outer[i] | inner[i]) >> 31;  // all bits, or none
    out[i] = (outer[i] * size + inner[i]) | outside;
    signs |= outside;
  }
  return signs == 0;
}
template <class T>
CLONES_512 void multiply(const T* __restrict a, const T* __restrict b, int n, T* __restrict out) {
  for (int i = 0; i < n; ++i) out[i] = a[i] * b[i];
}

template <class T, int Rank, GridMode Mode>
void prepare(const GridShape& s, const T* grid, int n, bool slopes, Block<T, Rank, Mode>& b) {
  constexpr int kAxis = Block<T, Rank, Mode>::kAxis;
  for (int r = 0; r < Rank; ++r) {  // r: the axis, outermost first
    const Index size = s.in[3 - Rank + r];
    read_positions<Rank>(grid + (Rank - 1 - r), n, size, s.align_corners, b.x, b.outer[r]);
    if (Mode != GridMode::bicubic)
      pad_positions(n, size, s.padding, s.align_corners, b.x, b.outer[r]);
    find_taps<Mode>(b.x, n, size, s.padding, s.align_corners, b.at[r], b.weight[r], b.slope[r]);
  }
  T some[kBlock];
  int joined[kBlock];
  b.inside = true;
  for (int p = 0; p < Block<T, Rank, Mode>::kTaps; ++p) {
    const int taps[3] = {p / kAxis / kAxis, p / kAxis % kAxis, p % kAxis};
    const auto row_of_tap = [&](int r) { return taps[3 - Rank + r] * kBlock; };
    // The product over all axes, of slopes along `sloped` and of weights elsewhere.
    const auto product = [&](int sloped, T* out) {
      const auto factor = [&](int r) {
        return (r == sloped ? b.slope[r] : b.weight[r]) + row_of_tap(r);
      };
      multiply(factor(Rank - 2), factor(Rank - 1), n, Rank == 3 ? some : out);
      if (Rank == 3) multiply(factor(0), some, n, out);
    };
    const int* outer = b.at[0] + row_of_tap(0);
    if (Rank == 3) {
      join_offsets(outer, b.at[1] + row_of_tap(1), int(s.in[1]), n, joined);
      outer = joined;
    }
    b.inside &=
        join_offsets(outer, b.at[Rank - 1] + row_of_tap(Rank - 1), int(s.in[2]), n, b.offset[p]);
    product(-1, b.share[p]);
    for (int r = 0; r < Rank && slopes; ++r) product(r, b.slopes[r][p]);
  }
}
template <class S, class T, int Rank, GridMode Mode>
void prepare(const GridShape& s, const S* grid, int n, bool slopes, Block<T, Rank, Mode>& b) {
  T positions[Rank * kBlock];
  convert_row(positions, grid, Rank * n);
  prepare<T, Rank, Mode>(s, positions, n, slopes, b);
}

// What lies outside is 0, but takes part: a weight that is NaN shows. By bits, as gcc makes a
// branch of a choice.
template <bool AllInside, class S, class T>
[[gnu::always_inline]] inline T element(const S* x, int at) {
  if constexpr (AllInside) return T(load(x + at));
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const int outside = at >> 31;
  const T v = T(load(x + (at & ~outside)));
  return std::bit_cast<T>(std::bit_cast<U>(v) & ~U(std::make_signed_t<U>(outside)));
}
template <int Taps, bool AllInside, class S, class T>
[[gnu::always_inline]] inline T sum_at(const S* __restrict x, const int (*offset)[kBlock],
                                       const T (*share)[kBlock], int i) {
  T sum = 0;
#pragma GCC unroll 16
  for (int p = 0; p < Taps; ++p) sum += element<AllInside, S, T>(x, offset[p][i]) * share[p][i];
  return sum;
}
template <int Taps, bool AllInside, class T>
CLONES void sum_taps(const T* __restrict x, const int (*offset)[kBlock], const T (*share)[kBlock],
                     int n, T* __restrict out) {
  for (int i = 0; i < n; ++i) out[i] = sum_at<Taps, AllInside, T>(x, offset, share, i);
}
template <int Taps, class T>
CLONES void add_slopes(const T* x, const int (*offset)[kBlock], const T (*slope)[kBlock],
                       const T* g, int n, T* sums) {
  for (int i = 0; i < n; ++i) sums[i] += g[i] * sum_at<Taps, false, T>(x, offset, slope, i);
}
// No processor gathers elements of two bytes: one by one.
template <int Taps, bool AllInside, class S, class T>
void sum_taps(const S* x, const int (*offset)[kBlock], const T (*share)[kBlock], int n, T* out) {
  for (int i = 0; i < n; ++i) out[i] = sum_at<Taps, AllInside, S, T>(x, offset, share, i);
}
template <int Taps, class S, class T>
void add_slopes(const S* x, const int (*offset)[kBlock], const T (*slope)[kBlock], const T* g,
                int n, T* sums) {
  for (int i = 0; i < n; ++i) sums[i] += g[i] * sum_at<Taps, false, S, T>(x, offset, slope, i);
}
// Position after position: neighbours add to the same elements.
template <int Taps, class T>
void scatter_taps(const int (*offset)[kBlock], const T (*share)[kBlock], const T* g, int n,
                  T* sums) {
  for (int i = 0; i < n; ++i)
    for (int p = 0; p < Taps; ++p)
      if (const int at = offset[p][i]; at >= 0) sums[at] += g[i] * share[p][i];
}
template <class T>
CLONES void scale(const T* by, int n, T* x) {
  for (int i = 0; i < n; ++i) x[i] *= by[i];
}

// Of so many channels, which lie innermost, whole vectors are summed: a pixel's last one reaches
// into the next pixel, or behind the last one.
Index lanes_of(Index channels) { return (channels + 3) / 4 * 4; }

// Positions of an image whose channels lie innermost: a tap is a run of them, `nothing` outside.
// Fixed: how many lanes, where that is known, or 0. What is written too much is overwritten.
template <int Taps, int Fixed, class T>
CLONES_512 void sum_pixels(const T* image, const T* nothing, Index channels,
                           const int (*offset)[kBlock], const T (*share)[kBlock], int n,
                           T* __restrict out) {
  const Index lanes = Fixed ? Fixed : lanes_of(channels);
  for (int i = 0; i < n; ++i, out += channels) {
    const T* from[Taps];
    T by[Taps];
#pragma GCC unroll 16
    for (int p = 0; p < Taps; ++p) {
      from[p] = offset[p][i] < 0 ? nothing : image + offset[p][i] * channels;
      by[p] = share[p][i];
    }
    for (Index c = 0; c < lanes; ++c) {
      T sum = 0;
#pragma GCC unroll 16
      for (int p = 0; p < Taps; ++p) sum += from[p][c] * by[p];
      out[c] = sum;
    }
  }
}
// Rows become columns, stored first if of another type.
template <class From, class To>
void transpose_rows(const From* from, Index ld_from, Index rows, Index columns, To* to,
                    Index ld_to) {
  if constexpr (std::is_same_v<From, To>) {
    transpose(from, ld_from, rows, columns, to, ld_to);
  } else {
    Scratch<To> stored(std::size_t(rows * ld_from));
    convert_row(stored.data(), from, rows * ld_from);
    transpose(stored.data(), ld_from, rows, columns, to, ld_to);
  }
}

template <class S, GridMode Mode, class T = Compute<S>>
void forward_pixels(const GridShape& s, const T* image, const S* grid, S* out) {
  constexpr int kTaps = Block<T, 2, Mode>::kTaps;
  const Index c = s.channels, lanes = lanes_of(c);
  const auto sum = lanes == 4   ? sum_pixels<kTaps, 4, T>
                   : lanes == 8 ? sum_pixels<kTaps, 8, T>
                                : sum_pixels<kTaps, 0, T>;
  parallel_for((s.points + kBlock - 1) / kBlock, 16, [&](Index begin, Index end) {
    Scratch<Block<T, 2, Mode>> block(1);
    Scratch<T> nothing(static_cast<std::size_t>(lanes)), sums(std::size_t(c * kBlock + lanes));
    std::fill_n(nothing.data(), lanes, T(0));
    for (Index first = begin * kBlock; first < std::min(s.points, end * kBlock); first += kBlock) {
      const int n = int(std::min<Index>(kBlock, s.points - first));
      prepare(s, grid + first * 2, n, false, block[0]);
      sum(image, nothing.data(), c, block[0].offset, block[0].share, n, sums.data());
      transpose_rows(sums.data(), c, n, c, out + first, s.points);
    }
  });
}
template <class S, class T = Compute<S>>
void fill_pixels(const GridShape& s, const S* from, T* to) {
  constexpr Index kPixels = 1024;
  const Index c = s.channels, plane = s.plane();
  parallel_for((plane + kPixels - 1) / kPixels, 1 + 64 / c, [&](Index begin, Index end) {
    const Index first = begin * kPixels, last = std::min(plane, end * kPixels);
    T* const target = to + first * c;
    if (s.inside) return convert_row(target, from + first * c, (last - first) * c);
    Scratch<S> unconverted(std::size_t(std::is_same_v<S, T> ? 1 : (last - first) * c));
    S* pixels = unconverted.data();
    if constexpr (std::is_same_v<S, T>) pixels = target;
    transpose(from + first, plane, c, last - first, pixels, c);
    if constexpr (!std::is_same_v<S, T>) convert_row(target, pixels, (last - first) * c);
  });
}
// Planes become pixels first, where that is less than it saves.
bool goes_by_pixels(const GridShape& s) {
  return s.inside || (s.rank == 2 && s.channels > 1 && s.points >= s.plane() / 2);
}
template <class S, GridMode Mode, class T = Compute<S>>
void forward_images(const GridShape& s, const S* input, const S* grid, S* out) {
  const Index c = s.channels, plane = s.plane(), lanes = lanes_of(c);
  const auto image = [&](Index i) {
    const S* from = input + i * c * plane;
    const auto sample = [&](const T* pixels) {
      forward_pixels<S, Mode>(s, pixels, grid + i * s.points * 2, out + i * c * s.points);
    };
    if constexpr (std::is_same_v<S, T>)
      if (s.inside && lanes == c) return sample(from);  // as it is
    Scratch<T> pixels(std::size_t(c * plane + lanes - c));
    fill_pixels(s, from, pixels.data());
    sample(pixels.data());
  };
  if (s.n < num_threads()) {
    for (Index i = 0; i < s.n; ++i) image(i);
    return;
  }
  parallel_for(s.n, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) image(i);
  });
}

template <class S, int Rank, GridMode Mode>
void forward(const GridShape& s, const S* input, const S* grid, S* out) {
  if constexpr (Rank == 2)
    if (goes_by_pixels(s)) return forward_images<S, Mode>(s, input, grid, out);
  using T = Compute<S>;
  const Index blocks = (s.points + kBlock - 1) / kBlock, plane = s.plane();
  parallel_for(s.n * blocks, 16, [&](Index begin, Index end) {
    Scratch<Block<T, Rank, Mode>> block(1);
    for (Index i = begin; i < end; ++i) {
      const Index image = i / blocks, first = i % blocks * kBlock;
      const int n = int(std::min<Index>(kBlock, s.points - first));
      prepare(s, grid + (image * s.points + first) * Rank, n, false, block[0]);
      for (Index c = 0; c < s.channels; ++c) {
        T sums[kBlock];
        constexpr int kTaps = Block<T, Rank, Mode>::kTaps;
        const S* x = input + (image * s.channels + c) * plane;
        if (block[0].inside)
          sum_taps<kTaps, true>(x, block[0].offset, block[0].share, n, sums);
        else
          sum_taps<kTaps, false>(x, block[0].offset, block[0].share, n, sums);
        convert_row(out + (image * s.channels + c) * s.points + first, sums, n);
      }
    }
  });
}

template <class S, int Rank, GridMode Mode>
void backward(const GridShape& s, const S* grad, const S* input, const S* grid, S* grad_input,
              S* grad_grid) {
  using T = Compute<S>;
  constexpr int kTaps = Block<T, Rank, Mode>::kTaps;
  const Index plane = s.plane(), whole = s.channels * plane;
  const bool slopes = grad_grid && Mode != GridMode::nearest;  // whose slope is 0
  parallel_for(s.n, 1, [&](Index begin, Index end) {
    Scratch<Block<T, Rank, Mode>> block(1);
    Scratch<T> wide(grad_input && !std::is_same_v<S, T> ? std::size_t(std::max<Index>(whole, 1))
                                                        : 1);
    Block<T, Rank, Mode>& b = block[0];
    for (Index image = begin; image < end; ++image) {
      T* sums = wide.data();
      if constexpr (std::is_same_v<S, T>) sums = grad_input ? grad_input + image * whole : nullptr;
      if (grad_input) std::fill_n(sums, whole, T(0));
      for (Index first = 0; first < s.points; first += kBlock) {
        check_interrupt();
        const int n = int(std::min<Index>(kBlock, s.points - first));
        prepare(s, grid + (image * s.points + first) * Rank, n, slopes, b);
        T by_axis[Rank][kBlock] = {}, g[kBlock];
        for (Index c = 0; c < s.channels; ++c) {
          const S* x = input + (image * s.channels + c) * plane;
          convert_row(g, grad + (image * s.channels + c) * s.points + first, n);
          for (int r = 0; r < Rank && slopes; ++r)
            add_slopes<kTaps>(x, b.offset, b.slopes[r], g, n, by_axis[r]);
          if (grad_input) scatter_taps<kTaps>(b.offset, b.share, g, n, sums + c * plane);
        }
        for (int r = 0; r < Rank && grad_grid; ++r) {
          scale(b.outer[r], n, by_axis[r]);
          S* const axis = grad_grid + (image * s.points + first) * Rank + (Rank - 1 - r);
          for (int i = 0; i < n; ++i) store(axis + i * Rank, by_axis[r][i]);
        }
      }
      if constexpr (!std::is_same_v<S, T>)
        if (grad_input) convert_row(grad_input + image * whole, sums, whole);
    }
  });
}

void forward_kernel(const GridShape& s, const View& input, const View& grid, const View& out) {
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    dispatch_grid(s, [&](auto rank, auto mode) {
      forward<S, decltype(rank)::value, decltype(mode)::value>(s, input.as<S>(), grid.as<S>(),
                                                               out.as<S>());
    });
  });
}

void backward_kernel(const GridShape& s, const View& grad, const View& input, const View& grid,
                     const View* grad_input, const View* grad_grid) {
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    dispatch_grid(s, [&](auto rank, auto mode) {
      backward<S, decltype(rank)::value, decltype(mode)::value>(
          s, grad.as<S>(), input.as<S>(), grid.as<S>(), grad_input ? grad_input->as<S>() : nullptr,
          grad_grid ? grad_grid->as<S>() : nullptr);
    });
  });
}

}  // namespace

const GridSampleKernels cpu_grid_sample = {forward_kernel, backward_kernel};

}  // namespace rushlight
