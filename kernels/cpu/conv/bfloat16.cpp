// Convolution of bfloat16 images by the processor's own instructions (AVX512-BF16). 32 neighbouring
// pixels of a plane of pairs (bfloat16_band.h) times 12 output channels stay in registers over all
// taps, or times 32 channels in the processor's tiles (amx.h), which take up to 16 pairs at once.
// Note: pixels in a margin are computed and dropped; denormal numbers count as 0, as in products.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "bfloat16_band.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight::conv {

#if defined(__x86_64__)
namespace {

constexpr Index kNear = 1 << 20;  // bytes of images for which weights are read once

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

}  // namespace

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
  Scratch<Pair> weights(std::size_t(pairs * (s.out + kTiledHeight)));
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
#endif

}  // namespace rushlight::conv
