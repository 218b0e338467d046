// Convolution of bfloat16 images by the processor's own instructions (AVX512-BF16). Two channels
// are zipped into pairs, the rows that a band of results reads get their margins, one plane for
// each phase of the stride; and 32 neighbouring pixels of such a plane times 12 output channels
// stay in registers over all taps, or times 32 channels in the processor's tiles (amx.h), which
// take up to 16 pairs at once. Note: pixels in a margin are computed and dropped; denormal numbers
// count as 0, as in products.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/cpu/linalg/amx.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight::conv {

#if defined(__x86_64__)
namespace {

constexpr Index kPixels = 32, kHeight = 12, kTiledHeight = 2 * amx::kTile;
constexpr Index kNear = 1 << 20;  // bytes of images for which weights are read once

// Pairs of channels, `each` at once in `lots` of instructions; the last lot may be filled up.
struct Depth {
  bool is_tiled;
  Index lots, each;
  explicit Depth(Index channels) {
    const Index pairs = (channels + 1) / 2;
    is_tiled = amx::is_available() && pairs >= 4;
    lots = is_tiled ? (pairs + amx::kTile - 1) / amx::kTile : pairs;
    each = lots ? (pairs + lots - 1) / lots : 1;
  }
  Index pairs() const { return lots * each; }
};

CLONES void zip(const bfloat16* first, const bfloat16* second, Index step, Index n, Pair* to) {
  if (step == 1)
    for (Index i = 0; i < n; ++i)
      to[i] = first[i].bits | (second ? Pair(second[i].bits) << 16 : Pair(0));
  else if (step == 2 && second && n > 1) {
    for (Index i = 0; i + 1 < n; ++i) {  // two elements at once, of which the first counts
      Pair low, high;
      std::memcpy(&low, first + 2 * i, sizeof low);
      std::memcpy(&high, second + 2 * i, sizeof high);
      to[i] = (low & 0xffff) | high << 16;
    }
    to[n - 1] = first[2 * n - 2].bits | Pair(second[2 * n - 2].bits) << 16;
  } else
    for (Index i = 0; i < n; ++i)
      to[i] = first[i * step].bits | (second ? Pair(second[i * step].bits) << 16 : Pair(0));
}

// sums[R][32] of the pixels at `image`, whose taps lie at `offsets`; weights [pair][R].
template <int R>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void tile(const Pair* weights,
                                                                  const Pair* image,
                                                                  const int* offsets, Index pairs,
                                                                  float* sums) {
  __m512 acc[R][2];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
  for (Index p = 0; p < pairs; ++p, weights += R) {
    const auto low = (__m512bh)_mm512_loadu_si512(image + offsets[p]);
    const auto high = (__m512bh)_mm512_loadu_si512(image + offsets[p] + 16);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const auto w = (__m512bh)_mm512_set1_epi32(int(weights[r]));
      acc[r][0] = _mm512_dpbf16_ps(acc[r][0], w, low);
      acc[r][1] = _mm512_dpbf16_ps(acc[r][1], w, high);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    _mm512_storeu_ps(sums + r * kPixels, acc[r][0]);
    _mm512_storeu_ps(sums + r * kPixels + 16, acc[r][1]);
  }
}
using Tile = void (*)(const Pair*, const Pair*, const int*, Index, float*);
constexpr Tile kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>,  tile<5>,  tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// Output channels, in registers those of like heights; weights of `rows` are stored.
struct Block {
  Index first, height, rows;
};
std::vector<Block> blocks_of(Index out, bool is_tiled) {
  std::vector<Block> blocks;
  const Index parts = (out + kHeight - 1) / kHeight;
  for (Index first = 0; is_tiled && first < out; first += kTiledHeight) {
    const Index height = std::min(kTiledHeight, out - first);
    blocks.push_back({first, height, height > amx::kTile ? kTiledHeight : amx::kTile});
  }
  for (Index part = 0, first = 0; !is_tiled && part < parts; ++part) {
    const Index height = (out - first + parts - part - 1) / (parts - part);
    blocks.push_back({first, height, height});
    first += height;
  }
  return blocks;
}

// For each block [row of taps][tap][lot][output channel][pair of the lot].
void pack_weights(const Correlation& s, const Depth& depth, const std::vector<Block>& blocks,
                  const bfloat16* w, Pair* to) {
  const Index kernel = s.kh * s.kw;
  Scratch<bfloat16> channels(std::size_t(2 * kernel * depth.pairs()));  // [tap][channel]
  std::memset(channels.data(), 0, channels.size() * sizeof(bfloat16));
  for (const Block& block : blocks)
    for (Index r = 0; r < block.rows; ++r) {
      if (r < block.height)
        transpose(w + (block.first + r) * s.w_out, s.w_in, s.c, kernel, channels.data(),
                  2 * depth.pairs());
      Pair* lot = to + block.first * s.taps() * depth.pairs() + r * depth.each;
      for (Index kh : s.rows.tap)
        for (Index kw : s.cols.tap)
          for (Index i = 0; i < depth.lots; ++i, lot += block.rows * depth.each)
            std::memcpy(lot, &channels[2 * ((kh * s.kw + kw) * depth.pairs() + i * depth.each)],
                        std::size_t(depth.each) * sizeof(Pair));
    }
}

struct Run {
  Index from, to, n;
};

// What outputs [q0, q1) of an axis read: place i of phase f is input i * step + f + base.
struct Reach {
  Index in, step, base, size;
  Reach(const Axis& x, Index q0, Index q1)
      : in(x.in), step(x.step), base(q0 * step), size(q1 - q0) {
    if (x.shift.empty()) return;
    base += x.shift.front();
    size += (x.shift.back() - x.shift.front()) / step;
  }
  std::pair<Index, Index> inside(Index phase) const {
    const auto from = [&](Index input) {  // the first place that is not before it
      return std::clamp<Index>((std::max<Index>(input - phase - base, 0) + step - 1) / step, 0,
                               size);
    };
    return {from(0), from(in)};
  }
};

// Output rows [r0, r1) of one image.
struct Band {
  const Correlation& s;
  Depth depth;
  Index r0, r1;
  Reach rows, cols;
  Index width, phases, plane;
  Band(const Correlation& shape, Index from, Index to)
      : s(shape),
        depth(shape.c),
        r0(from),
        r1(to),
        rows(s.rows, from, to),
        cols(s.cols, 0, s.cols.out),
        width(cols.size),
        phases(rows.step * cols.step),
        plane(rows.size * width + kPixels) {}
  Index pairs() const { return depth.pairs(); }

  // [pair of channels][phase][row][column]
  void pack(const bfloat16* x, Pair* to) const {
    const bool inside = s.from.channel == 1;
    Scratch<Pair> pixels(std::size_t(inside ? cols.in * pairs() : 0));
    for (Index i = 0; i < pairs() * phases; ++i)
      std::fill_n(to + i * plane + rows.size * width, kPixels, Pair(0));
    for (Index i = 0; i < rows.size * rows.step; ++i) {
      const Index f = i % rows.step, h = i + rows.base;
      const bool is_row = h >= 0 && h < rows.in;
      const bfloat16* const row = is_row ? x + h * cols.in * s.from.pixel : nullptr;
      if (is_row && inside) bring_together(row, pixels.data());
      for (Index k = 0; k < cols.step; ++k) {
        Pair* const line = to + (f * cols.step + k) * plane + i / rows.step * width;
        const auto [first, end] = is_row ? cols.inside(k) : std::pair<Index, Index>(0, 0);
        for (Index p = 0; p < pairs(); ++p) {
          std::fill_n(line + p * phases * plane, first, Pair(0));
          std::fill_n(line + p * phases * plane + end, width - end, Pair(0));
        }
        const Index column = first * cols.step + k + cols.base, n = end - first;
        if (n > 0 && inside)
          transpose(pixels.data() + column * pairs(), cols.step * pairs(), n, pairs(), line + first,
                    phases * plane);
        for (Index c = 0; n > 0 && !inside && c < 2 * pairs(); c += 2) {
          const bfloat16* const from = row + c * s.from.channel + column;
          if (c >= s.c)
            std::fill_n(line + c / 2 * phases * plane + first, n, Pair(0));
          else
            zip(from, c + 1 < s.c ? from + s.from.channel : nullptr, cols.step, n,
                line + c / 2 * phases * plane + first);
        }
      }
    }
  }
  void bring_together(const bfloat16* row, Pair* pixels) const {  // of one group, in whole pairs
    for (Index i = 0; i < cols.in; ++i, pixels += pairs()) {
      std::fill(pixels + s.c / 2, pixels + pairs(), Pair(0));
      std::memcpy(pixels, row + i * s.from.pixel, std::size_t(s.c) * sizeof(bfloat16));
    }
  }
  std::vector<int> offsets() const {
    std::vector<int> all;
    for (Index v : s.rows.shift)
      for (Index h : s.cols.shift) {
        const Index r = v - s.rows.shift.front(), q = h - s.cols.shift.front();
        const Index phase = r % rows.step * cols.step + q % cols.step;
        for (Index p = 0; p < pairs(); p += depth.each)
          all.push_back(int((p * phases + phase) * plane + r / rows.step * width + q / cols.step));
      }
    return all;
  }
  // Which of the pixels [q, q + 32) are results, and where those are in the plane of a channel.
  int runs(Index q, Run* to) const {
    int count = 0;
    for (Index at = q; at < q + kPixels;) {
      const Index row = at / width, column = at % width;
      const Index end = std::min(at + width - column, q + kPixels);
      if (row >= r1 - r0) break;
      if (column < s.cols.out)
        to[count++] = {at - q, s.stored(r0 + row, column), std::min(s.cols.out - column, end - at)};
      at = end;
    }
    return count;
  }
};

// What a band of an image reads, packed.
struct Packed {
  Band band;
  Index image, last;  // the end of its results in a plane
  std::unique_ptr<Scratch<Pair>> planes;
  std::vector<int> offsets;
  Packed(const Correlation& s, Index r0, Index r1, Index number, const bfloat16* x)
      : band(s, r0, r1),
        image(number),
        last((r1 - r0 - 1) * band.width + s.cols.out),
        planes(
            std::make_unique<Scratch<Pair>>(std::size_t(band.plane * band.phases * band.pairs()))),
        offsets(band.offsets()) {
    band.pack(x + image * s.from.image, planes->data());
  }
};

void multiply_tiles(const Pair* weights, Index rows, const Packed& p, Index q, float* sums) {
  constexpr auto kBytes = Index(sizeof(Pair));
  const Index each = p.band.depth.each;
  const Pair* const image = p.planes->data() + q;
  amx::multiply({{weights, rows > amx::kTile ? weights + amx::kTile * each : nullptr},
                 {},
                 each * kBytes,
                 rows * each * kBytes,
                 image,
                 p.band.phases * p.band.plane * kBytes,
                 p.offsets.data(),
                 Index(p.offsets.size()),
                 sums,
                 false,
                 image,
                 0});
}

// The sums of a block, [channel][32], of which 32 more can be read, to where they belong.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void put(const Correlation& s,
                                                                 const float* sums, Block block,
                                                                 const Run* runs, int count,
                                                                 bfloat16* y) {
  const Index step = s.cols.pitch * s.to.pixel;
  std::uint16_t narrow[kTiledHeight * kPixels];
  y += block.first * s.to.channel;
  for (Index r = 0; r < block.height; ++r, sums += kPixels) {
    const float bias = s.bias ? s.bias[block.first + r] : 0.f;
    for (int i = 0; i < count && step == 1; ++i) {
      const float* const from = sums + runs[i].from;
      const __m512 low = _mm512_loadu_ps(from) + bias, high = _mm512_loadu_ps(from + 16) + bias;
      _mm512_mask_storeu_epi16(y + r * s.to.channel + runs[i].to,
                               std::uint32_t((std::uint64_t(1) << runs[i].n) - 1),
                               (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    if (step == 1) continue;
    const __m512 low = _mm512_loadu_ps(sums) + bias, high = _mm512_loadu_ps(sums + 16) + bias;
    _mm512_storeu_si512(narrow + r * kPixels, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
  for (int i = 0; i < count && step != 1; ++i) {
    const std::uint16_t* const from = narrow + runs[i].from;
    auto* const to = reinterpret_cast<std::uint16_t*>(y + runs[i].to);
    if (s.to.channel == 1) {
      transpose(from, kPixels, block.height, runs[i].n, to, step);
      continue;
    }
    for (Index r = 0; r < block.height; ++r)
      for (Index k = 0; k < runs[i].n; ++k) to[r * s.to.channel + k * step] = from[r * kPixels + k];
  }
}

// Two elements of k at a time, so that `out` goes on by their sum.
template <int P, int Panels>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void weight_tile(
    const TileArgsOf<Pair>& s) {
  __m512 acc[P][Panels];
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < Panels; ++v) acc[p][v] = _mm512_loadu_ps(s.out + p * s.ldo + v * kPanel);
  for (Index r = 0; r < s.rows; ++r) {
    const int* off = s.off + r * s.ld;
    const Pair* b = s.b + r * s.ld * kPanel;
    for (Index k = 0; k < s.n; ++k, b += kPanel) {
      const Pair* const a = s.a + off[k];
      __m512bh lanes[Panels];
#pragma GCC unroll 2
      for (int v = 0; v < Panels; ++v) lanes[v] = (__m512bh)_mm512_loadu_si512(b + v * s.panel);
#pragma GCC unroll 14
      for (int p = 0; p < P; ++p) {
        const auto one = (__m512bh)_mm512_set1_epi32(int(a[p]));
#pragma GCC unroll 2
        for (int v = 0; v < Panels; ++v) acc[p][v] = _mm512_dpbf16_ps(acc[p][v], one, lanes[v]);
      }
    }
  }
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < Panels; ++v) _mm512_storeu_ps(s.out + p * s.ldo + v * kPanel, acc[p][v]);
}
template <int Panels, int... P>
PairTile pick(Index p, std::integer_sequence<int, P...>) {
  constexpr PairTile all[] = {weight_tile<P + 1, Panels>...};
  return all[p - 1];
}

}  // namespace

PairTile pair_tile(Index panels, Index p) {
  const std::make_integer_sequence<int, 14> heights;
  return panels == 2 ? pick<2>(p, heights) : pick<1>(p, heights);
}

bool suits_bfloat16(const Correlation& s) {
  const Index area = s.rows.out * s.cols.out, width = Reach(s.cols, 0, s.cols.out).size;
  const Index pixels = ((s.rows.out - 1) * width + s.cols.out + kPixels - 1) / kPixels * kPixels;
  if (s.taps() == 0 || area == 0) return true;
  return s.c >= 4 && s.out >= 4 && 2 * pixels <= 3 * area && s.products(s.n) >= 131072;
}

void correlate_bfloat16(const Correlation& s, const bfloat16* x, const bfloat16* w, bfloat16* y) {
  if (s.rows.out == 0 || s.cols.out == 0) return;
  const Depth depth(s.c);
  const Index pairs = s.taps() * depth.pairs(), products = pairs * s.out * s.rows.out * s.cols.out;
  const std::vector<Block> blocks = blocks_of(s.out, depth.is_tiled);
  Scratch<Pair> weights(std::size_t(pairs * (blocks.back().first + blocks.back().rows)));
  pack_weights(s, depth, blocks, w, weights.data());
  const Index least =
      std::max<Index>(products / kTaskProducts + 1, s.n < num_threads() ? num_threads() : 1);
  const Index each = (s.rows.out + least - 1) / least;
  const Index bands = (s.rows.out + each - 1) / each;
  parallel_for(s.n * bands, 1 + 500'000 / (products / bands + 1), [&](Index begin, Index end) {
    float sums[(kTiledHeight + 1) * kPixels] = {};
    Run runs[kPixels];
    std::optional<amx::Tiles> tiles;
    if (depth.is_tiled) tiles.emplace(depth.each);
    for (Index i = begin, some; i < end; i += some) {
      std::vector<Packed> packed;
      Index bytes = 0;
      for (some = 0; i + some < end && (some == 0 || (depth.is_tiled && bytes < kNear)); ++some) {
        const Index image = (i + some) / bands, r0 = (i + some) % bands * each;
        packed.emplace_back(s, r0, std::min(s.rows.out, r0 + each), image, x);
        bytes += Index(packed.back().planes->size() * sizeof(Pair));
      }
      const auto compute = [&](const Packed& p, Index q, const Block& block) {
        const Pair* const some_weights = weights.data() + block.first * pairs;
        const int count = p.band.runs(q, runs);
        if (depth.is_tiled)
          multiply_tiles(some_weights, block.rows, p, q, sums);
        else
          kTiles[block.height - 1](some_weights, p.planes->data() + q, p.offsets.data(), pairs,
                                   sums);
        put(s, sums, block, runs, count, y + p.image * s.to.image);
      };
      // Weights of a block are read for all images, or pixels by all blocks.
      if (depth.is_tiled)
        for (const Block& block : blocks)
          for (const Packed& p : packed)
            for (Index q = 0; q < p.last; q += kPixels) compute(p, q, block);
      else
        for (Index q = 0; q < packed[0].last; q += kPixels)
          for (const Block& block : blocks) compute(packed[0], q, block);
    }
  });
}
#else
bool suits_bfloat16(const Correlation&) { return false; }
void correlate_bfloat16(const Correlation&, const bfloat16*, const bfloat16*, bfloat16*) {}
PairTile pair_tile(Index, Index) { return nullptr; }
#endif

}  // namespace rushlight::conv
