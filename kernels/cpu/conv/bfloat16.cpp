// Convolution of bfloat16 images by the processor's own instructions (AVX512-BF16): strides of 1,
// one group. Two channels are zipped into pairs, rows get their margins, and 32 neighbouring places
// of that plane times 12 output channels stay in registers over all taps. Note: places in a margin
// are computed and dropped; denormal numbers count as 0, as in products.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight::conv {

#if defined(__x86_64__)
namespace {

using Pair = std::uint32_t;  // two neighbouring channels, the first in the low half
constexpr Index kPlaces = 32, kHeight = 12;

bool is_able() {
  static const bool able = __builtin_cpu_supports("avx512bf16") && tiles().width == 16;
  return able;
}

CLONES void zip(const bfloat16* first, const bfloat16* second, Index n, Pair* to) {
  for (Index i = 0; i < n; ++i)
    to[i] = first[i].bits | (second ? Pair(second[i].bits) << 16 : Pair(0));
}

// sums[R][32] of the places at `image`, whose taps lie at `offsets`; weights [pair][R].
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
    _mm512_storeu_ps(sums + r * kPlaces, acc[r][0]);
    _mm512_storeu_ps(sums + r * kPlaces + 16, acc[r][1]);
  }
}
using Tile = void (*)(const Pair*, const Pair*, const int*, Index, float*);
constexpr Tile kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>,  tile<5>,  tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// Output channels in blocks of like heights.
struct Block {
  Index first, height;
};
std::vector<Block> blocks_of(Index out) {
  std::vector<Block> blocks;
  const Index parts = (out + kHeight - 1) / kHeight;
  for (Index part = 0, first = 0; part < parts; ++part) {
    const Index height = (out - first + parts - part - 1) / (parts - part);
    blocks.push_back({first, height});
    first += height;
  }
  return blocks;
}

// For each block [row of taps][tap][pair of channels][output channel].
void pack_weights(const Planes& s, const std::vector<Block>& blocks, const bfloat16* w, Pair* to) {
  const auto bits = [&](Index o, Index c, Index a, Index b) -> Pair {
    if (c >= s.c) return 0;
    const Index tap =
        s.flipped ? (s.kernel[0] - 1 - a) * s.kernel[1] + s.kernel[1] - 1 - b : a * s.kernel[1] + b;
    return w[o * s.w_out + c * s.w_in + tap].bits;
  };
  for (const Block& block : blocks)
    for (Index a = 0; a < s.kernel[0]; ++a)
      for (Index b = 0; b < s.kernel[1]; ++b)
        for (Index c = 0; c < s.c; c += 2)
          for (Index r = 0; r < block.height; ++r)
            *to++ = bits(block.first + r, c, a, b) | bits(block.first + r, c + 1, a, b) << 16;
}

struct Run {
  Index from, to, n;
};

// Output rows [r0, r1) of one image.
struct Band {
  const Planes& s;
  Index r0, r1, width, rows, plane;  // of the zipped planes, with margins
  Band(const Planes& shape, Index from, Index to)
      : s(shape),
        r0(from),
        r1(to),
        width(s.in[1] + 2 * s.padding[1]),
        rows(r1 - r0 + (s.kernel[0] - 1) * s.dilation[0]),
        plane(rows * width + kPlaces) {}

  void pack(const bfloat16* x, Pair* to) const {
    const Index pairs = (s.c + 1) / 2;
    Scratch<Pair> pixels(std::size_t(s.inside ? s.in[1] * pairs : 0));
    for (Index p = 0; p < pairs; ++p) std::fill_n(to + p * plane + rows * width, kPlaces, Pair(0));
    for (Index r = 0; r < rows; ++r, to += width) {
      const Index h = r0 + r - s.padding[0], used = h < 0 || h >= s.in[0] ? 0 : s.in[1];
      const Index left = used ? s.padding[1] : 0;
      for (Index p = 0; p < pairs; ++p) {
        std::fill_n(to + p * plane, left, Pair(0));
        std::fill_n(to + p * plane + left + used, width - left - used, Pair(0));
      }
      if (used && s.inside)
        part_pairs(x + h * used * s.c, pixels.data(), to + left);
      else if (used)
        zip_pairs(x + h * used, to + left);
    }
  }
  void zip_pairs(const bfloat16* x, Pair* to) const {  // a row of planes
    const Index area = s.in[0] * s.in[1];
    for (Index c = 0; c < s.c; c += 2, x += 2 * area, to += plane)
      zip(x, c + 1 < s.c ? x + area : nullptr, s.in[1], to);
  }
  void part_pairs(const bfloat16* x, Pair* pixels, Pair* to) const {  // a row of pixels
    const Index pairs = (s.c + 1) / 2;
    if (s.c % 2)
      for (Index i = 0; i < s.in[1]; ++i) {
        pixels[(i + 1) * pairs - 1] = 0;
        std::memcpy(pixels + i * pairs, x + i * s.c, std::size_t(s.c) * sizeof(bfloat16));
      }
    else
      std::memcpy(pixels, x, std::size_t(s.in[1] * s.c) * sizeof(bfloat16));
    transpose(pixels, pairs, s.in[1], pairs, to, plane);
  }
  std::vector<int> offsets() const {
    std::vector<int> all;
    for (Index a = 0; a < s.kernel[0]; ++a)
      for (Index b = 0; b < s.kernel[1]; ++b)
        for (Index c = 0; c < (s.c + 1) / 2; ++c)
          all.push_back(int(c * plane + a * s.dilation[0] * width + b * s.dilation[1]));
    return all;
  }
  // Which of the places [q, q + 32) are results, and where in the plane of an output channel.
  int runs(Index q, Run* to) const {
    int count = 0;
    for (Index at = q; at < q + kPlaces;) {
      const Index row = at / width, column = at % width;
      const Index end = std::min(at + width - column, q + kPlaces);
      if (row >= r1 - r0) break;
      if (column < s.out_size[1])
        to[count++] = {at - q, (r0 + row) * s.out_size[1] + column,
                       std::min(s.out_size[1] - column, end - at)};
      at = end;
    }
    return count;
  }
};

// One output channel's sums, of which 32 more can be read, into its plane.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void put(const float* sums, const Run* runs,
                                                                 int count, float bias,
                                                                 bfloat16* plane) {
  for (int i = 0; i < count; ++i) {
    const float* const from = sums + runs[i].from;
    const __m512 low = _mm512_loadu_ps(from) + bias, high = _mm512_loadu_ps(from + 16) + bias;
    _mm512_mask_storeu_epi16(plane + runs[i].to, std::uint32_t((std::uint64_t(1) << runs[i].n) - 1),
                             (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
}

// The sums of a block, [channel][32], into pixels of `out` channels.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void put_pixels(
    const float* sums, Index height, const Run* runs, int count, const bfloat16* bias,
    bfloat16* pixels, Index out) {
  std::uint16_t narrow[kHeight * kPlaces];
  for (Index r = 0; r < height; ++r) {
    const float shift = bias ? load(bias + r) : 0.f, *from = sums + r * kPlaces;
    const __m512 low = _mm512_loadu_ps(from) + shift, high = _mm512_loadu_ps(from + 16) + shift;
    _mm512_storeu_si512(narrow + r * kPlaces, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
  for (int i = 0; i < count; ++i)
    transpose(narrow + runs[i].from, kPlaces, height, runs[i].n,
              reinterpret_cast<std::uint16_t*>(pixels + runs[i].to * out), out);
}

}  // namespace

bool correlate_bfloat16(const Planes& s, const bfloat16* x, const bfloat16* w, const bfloat16* bias,
                        bfloat16* y) {
  const Index width = s.in[1] + 2 * s.padding[1], area = s.out_size[0] * s.out_size[1];
  const Index pairs = s.kernel[0] * s.kernel[1] * ((s.c + 1) / 2), products = pairs * s.out * area;
  const Index places =
      ((s.out_size[0] - 1) * width + s.out_size[1] + kPlaces - 1) / kPlaces * kPlaces;
  for (int d = 0; d < 2; ++d)  // what output_padding adds has no margin
    if (s.out_size[d] + s.dilation[d] * (s.kernel[d] - 1) != s.in[d] + 2 * s.padding[d])
      return false;
  if (!is_able() || std::min(s.padding[0], s.padding[1]) < 0 || s.c < 4 || s.out < 4 ||
      2 * places > 3 * area || s.n * products < 65536)
    return false;
  const std::vector<Block> blocks = blocks_of(s.out);
  Scratch<Pair> weights(std::size_t(pairs * s.out));
  pack_weights(s, blocks, w, weights.data());
  const Index least =
      std::max<Index>(products / kTaskProducts + 1, s.n < num_threads() ? num_threads() : 1);
  const Index each = (s.out_size[0] + least - 1) / least;
  const Index bands = (s.out_size[0] + each - 1) / each;
  parallel_for(s.n * bands, 1 + 500'000 / (products / bands + 1), [&](Index begin, Index end) {
    float sums[(kHeight + 1) * kPlaces] = {};
    Run runs[kPlaces];
    for (Index i = begin; i < end; ++i) {
      const Index image = i / bands, r0 = i % bands * each;
      const Band band(s, r0, std::min(s.out_size[0], r0 + each));
      Scratch<Pair> planes(std::size_t(band.plane * ((s.c + 1) / 2)));
      band.pack(x + image * s.c * s.in[0] * s.in[1], planes.data());
      const std::vector<int> offsets = band.offsets();
      const Index last = (band.r1 - band.r0 - 1) * width + s.out_size[1];
      for (Index q = 0; q < last; q += kPlaces) {
        const int count = band.runs(q, runs);
        for (const Block& block : blocks) {
          kTiles[block.height - 1](weights.data() + block.first * pairs, planes.data() + q,
                                   offsets.data(), pairs, sums);
          if (s.inside)
            put_pixels(sums, block.height, runs, count, bias ? bias + block.first : nullptr,
                       y + image * s.out * area + block.first, s.out);
          for (Index r = 0; r < block.height && !s.inside; ++r)
            put(sums + r * kPlaces, runs, count, bias ? load(bias + block.first + r) : 0.f,
                y + (image * s.out + block.first + r) * area);
        }
      }
    }
  });
  return true;
}
#else
bool correlate_bfloat16(const Planes&, const bfloat16*, const bfloat16*, const bfloat16*,
                        bfloat16*) {
  return false;
}
#endif

}  // namespace rushlight::conv
