// How tile_gemm cuts a product, and the order in which it packs what its tiles read.
#pragma once
#include <algorithm>

#include "kernels/cpu/wide_vector.h"
#include "strided_matrix.h"
#include "wide_tile.h"

#if defined(__x86_64__)
namespace rushlight::tiled {

inline constexpr Index kNear = 1 << 20;  // bytes that stay in the second cache

// Groups of `wide` rows that lie next to each other, each as [depth][wide]; the last group of
// fewer, and of `width` with zeros.
template <class T>
[[gnu::target("avx512f")]] void pack_next(const T* from, Index step, Index rows, Index depth,
                                          Index wide, Index width, T* to) {
  using W = Wide<T>;
  constexpr Index n = W::kLanes;
  __mmask16 whole[kWideVectors], read[kWideVectors], written[kWideVectors];
  const Index groups = (rows - 1) / wide, left = rows - groups * wide;
  for (Index v = 0; v < kWideVectors; ++v) {
    const auto lanes = [&](Index columns) {
      return first_lanes(std::clamp<Index>(columns - v * n, 0, W::kLanes));
    };
    whole[v] = lanes(wide), read[v] = lanes(left), written[v] = lanes(width);
  }
  const Index vectors = (wide + n - 1) / n;
  for (Index k = 0; k < depth; ++k, from += step) {
    const T* x = from;
    T* o = to + k * wide;
    for (Index g = 0; g < groups; ++g, x += wide, o += wide * depth)
      for (Index v = 0; v < vectors; ++v) {
        __builtin_prefetch(x + 2 * kAhead * step + v * n);
        W::store(o + v * n, whole[v], W::load(whole[v], x + v * n));
      }
    T* const last = to + groups * wide * depth + k * width;
    for (Index v = 0; v < vectors; ++v)
      W::store(last + v * n, written[v], W::load(read[v], x + v * n));
  }
}

// Rows of m, each `wide` of them as [depth][wide]; the last ones as [depth][width], with zeros.
template <class T>
void pack(const StridedMatrix<const T>& m, Index wide, Index width, T* to) {
  constexpr Index n = Wide<T>::kLanes;
  if (m.row_stride == 1) return pack_next(m.data, m.col_stride, m.rows, m.cols, wide, width, to);
  for (Index first = 0; first < m.rows; first += wide) {
    const Index used = first + wide < m.rows ? wide : width;
    for (Index i = 0; i < used; i += n)
      transpose_lanes(m.data + (first + i) * m.row_stride, m.row_stride, m.rows - first - i, m.cols,
                      to + first * m.cols + i, used, first_lanes(std::min(n, used - i)));
  }
}

// Whether lines so far apart fall into the same few places of the nearest cache.
template <class T>
bool collides(Index stride) {
  return stride * Index(sizeof(T)) % 2048 == 0;
}

// How a product is cut into tiles: wide ones, for which all panels are copied, or tall ones.
template <class T>
struct Tiling {
  static constexpr Index lanes = Wide<T>::kLanes;
  bool is_wide, left_here;       // whether the rows are read where they lie
  Index panels, blocks, height;  // blocks of rows are of like heights, but for the last
  Index vectors, wider_panels;   // of a panel; the first ones have one more
  Index packed_from;             // panels from there on are copied

  Tiling(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right) {
    const Index rows = left.rows, cols = right.cols, all = (cols + lanes - 1) / lanes;
    const Index tall_blocks = (rows + kRows - 1) / kRows;
    const Index tall_panels = (all + kVectors - 1) / kVectors;
    const bool right_here = right.col_stride == 1 && tall_blocks <= 10, next = left.row_stride == 1;
    const bool reads_few = tall_panels <= 2 || (tall_panels <= 4 && !collides<T>(left.col_stride));
    is_wide = !right_here && all > kVectors && !(next && tall_panels <= 2);
    left_here = next ? reads_few
                     : is_wide || (tall_panels < fewest_panels(rows * left.cols) &&
                                   !collides<T>(left.row_stride));
    panels = is_wide ? (all + kWideVectors - 1) / kWideVectors : tall_panels;
    blocks = is_wide ? (rows + kWideSums - 1) / kWideSums : tall_blocks;
    height = is_wide ? kWideSums : (rows + blocks - 1) / blocks;
    vectors = all / panels;
    wider_panels = all % panels;
    // A partial panel is always copied, to be read whole.
    packed_from = right_here ? cols / (kVectors * lanes) : 0;
  }

  // For which rows are copied in the order of tall tiles: of many rows that takes longer, as they
  // come from far.
  static Index fewest_panels(Index count) { return count * Index(sizeof(T)) <= kNear ? 3 : 8; }
  Index first_of(Index panel) const {  // its first column
    return (panel * vectors + std::min(panel, wider_panels)) * lanes;
  }
  Index vectors_of(Index panel) const { return vectors + (panel < wider_panels); }
  Index width_of(Index panel) const { return vectors_of(panel) * lanes; }
  Index tile_rows(Index panel) const { return is_wide ? wide_rows(vectors_of(panel)) : height; }
  Index chunk() const {  // blocks whose rows the second cache holds
    return 448 / Index(sizeof(T)) / (is_wide ? kWideSums : kRows);
  }
};

}  // namespace rushlight::tiled
#endif
