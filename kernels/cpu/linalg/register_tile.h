// The register tile of float products, under convolution and the built-in GEMM:
//     out[p][lane] = bias[lane] + sum over k of a[off[k] + p] * b[k][lane],
// compiled for three instruction sets and chosen once. Note: gcc 12 keeps a vector
// wider than the machine's in memory, hence the template over the width in place of CLONES.
#pragma once
#include <cstdint>

namespace rushlight {

inline constexpr std::int64_t kPanel = 16;  // lanes packed side by side in b

template <class T>
struct TileArgsOf {
  const T* a;       // P elements are broadcast, next to each other or `step` apart
  const int* off;   // where they lie for each k
  std::int64_t rows, ld, n;  // k = r * ld ... r * ld + n for each row r: a rectangle of taps
  const T* b;                // [panel][k][16]
  std::int64_t panel;        // elements from panel to panel
  float* out;                // [p][16 * panels]
  std::int64_t ldo;
  const float* bias;  // where the sums start: [16 * panels], or null to go on from `out`
  std::int64_t step = 1;  // of a pixel_tile
};
using TileArgs = TileArgsOf<float>;
using Tile = void (*)(const TileArgs&);

// out[p][lane] = sum over k < n of w[k][p] * x[off[k] + lane] + bias[p]: lanes are columns of one
// output row.
struct ChannelTileArgs {
  const float* x;
  const int* off;
  std::int64_t n;
  const float* w;
  const float* bias;  // P floats
  float* out;
  std::int64_t ldo;
};
using ChannelTile = void (*)(const ChannelTileArgs&);

struct Tiles {
  std::int64_t width, p, panels, channels;  // floats in a vector; largest tile and channel tile
  Tile tile[2][14];                         // [panels - 1][p - 1]
  Tile pixel_tile[2][14];  // of elements that lie apart; null where it was not measured
  ChannelTile channel_tile[2][8];           // [vectors - 1][channels - 1]
};
const Tiles& tiles();  // for this processor; RUSHLIGHT_ISA=avx2 or baseline forces a lesser one

}  // namespace rushlight
