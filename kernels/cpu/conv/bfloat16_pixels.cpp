// Convolution of bfloat16 images whose channels lie innermost, in AMX tiles: rows of the left
// operand are pixels, read at each tap's place in a copy with margins of zeros; columns of the
// right one are output channels. Neighbouring outputs are neighbouring pixels of the copy, so 32 of
// them run on over the margins, and what is computed there is not stored.
#include <algorithm>
#include <cstring>
#include <vector>

#include "bfloat16.h"
#include "kernels/cpu/linalg/amx.h"
#include "kernels/cpu/linalg/strided_matrix.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight::conv {

#if defined(__x86_64__)
namespace {

using amx::kTile;
constexpr Index kWide = 2 * kTile;  // pixels, channels of a lot and output channels at once
constexpr Index kNearBytes = 256 << 10;  // of a band's copy

struct Pixels {
  const Correlation& s;
  Index channels, lots, left, width;  // rounded up; of a tap; margin; pixels of a row with margins
  std::vector<int> from, to;  // bytes to each lot's pixels; pairs to its weights

  explicit Pixels(const Correlation& c)
      : s(c), channels(rounded_up(c.c, kWide)), lots(channels / kWide) {
    left = std::max<Index>(0, -s.cols.shift.front());
    width = std::max(s.cols.out + std::max<Index>(0, s.cols.shift.back()), s.cols.in) + left;
    for (const Index v : s.rows.shift)
      for (const Index h : s.cols.shift)
        for (Index lot = 0; lot < lots; ++lot) {
          const Index pixel = (v - s.rows.shift.front()) * width + h + left;
          from.push_back(int((pixel * channels + lot * kWide) * Index(sizeof(bfloat16))));
          to.push_back(int(to.size()) * int(kWide * kTile));
        }
  }
  Index weights_of_panel() const { return Index(to.size()) * kWide * kTile; }
  Index rows_read(Index rows) const { return rows + s.rows.shift.back() - s.rows.shift.front(); }
  // With room for the pixels that the last tile reads in vain.
  Index copied(Index rows) const { return (rows_read(rows) * width + 2 * kWide) * channels; }

  // [panel][tap][lot][16 pairs of channels][32 output channels]
  void pack_weights(const bfloat16* w, Pair* packed) const {
    const Index kernel = s.kh * s.kw, pairs = channels / 2;
    parallel_for(
        (s.out + kWide - 1) / kWide, 1 + 65536 / weights_of_panel(), [&](Index begin, Index end) {
          Scratch<bfloat16> rows(std::size_t(kWide * kernel * channels));
          for (Index panel = begin; panel < end; ++panel) {
            const Index first = panel * kWide, count = std::min(kWide, s.out - first);
            std::memset(static_cast<void*>(rows.data()), 0, rows.size() * sizeof(bfloat16));
            for (Index o = 0; o < count; ++o)
              transpose(w + (first + o) * s.w_out, s.w_in, s.c, kernel,
                        rows.data() + o * kernel * channels, channels);
            Pair* to_tap = packed + panel * weights_of_panel();
            for (const Index kh : s.rows.tap)
              for (const Index kw : s.cols.tap) {
                const bfloat16* const tap = rows.data() + (kh * s.kw + kw) * channels;
                transpose(reinterpret_cast<const Pair*>(tap), kernel * pairs, kWide, pairs, to_tap,
                          kWide);
                to_tap += pairs * kWide;
              }
          }
        });
  }

  // What output rows [h0, h1) of an image read, as [row][pixel][channel].
  void copy(const bfloat16* x, Index h0, Index h1, bfloat16* to_pixels) const {
    const Index row = width * channels;
    std::memset(static_cast<void*>(to_pixels), 0, std::size_t(copied(h1 - h0)) * sizeof(bfloat16));
    for (Index i = 0; i < rows_read(h1 - h0); ++i) {
      const Index h = h0 + s.rows.shift.front() + i;
      if (h < 0 || h >= s.rows.in) continue;
      const bfloat16* pixel = x + h * s.cols.in * s.from.pixel;
      bfloat16* out = to_pixels + i * row + left * channels;
      if (channels == s.from.pixel) {
        std::memcpy(out, pixel, std::size_t(s.cols.in * channels) * sizeof(bfloat16));
        continue;
      }
      for (Index q = 0; q < s.cols.in; ++q, pixel += s.from.pixel, out += channels)
        std::memcpy(out, pixel, std::size_t(s.c) * sizeof(bfloat16));
    }
  }

  // Sums of a panel and of pixels from number q of the band on, rounded.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void put(const float* sums, Index panel,
                                                                   Index h0, Index q, Index count,
                                                                   bfloat16* y) const {
    const Index first = panel * kWide, n = std::min(kWide, s.out - first);
    alignas(64) float bias[kWide] = {};
    if (s.bias) std::copy_n(s.bias + first, n, bias);
    const __m512 low = _mm512_load_ps(bias), high = _mm512_load_ps(bias + kTile);
    const auto some = __mmask32((std::uint64_t(1) << n) - 1);
    for (Index i = 0; i < count;) {
      const Index column = (q + i) % width, stop = std::min(count, i + width - column);
      bfloat16* to = y + first + s.stored(h0 + (q + i) / width, column);
      for (Index k = i; k < std::min(stop, i + s.cols.out - column); ++k) {
        const __m512 a = _mm512_load_ps(sums + k * kWide) + low;
        const __m512 b = _mm512_load_ps(sums + k * kWide + kTile) + high;
        _mm512_mask_storeu_epi16(to, some, (__m512i)_mm512_cvtne2ps_pbh(b, a));
        to += s.cols.pitch * s.to.pixel;
      }
      i = stop;
    }
  }

  void run(const bfloat16* pixels, const Pair* weights, Index h0, Index h1, bfloat16* y) const {
    alignas(64) float sums[kWide * kWide];
    const Index last = (h1 - h0 - 1) * width + s.cols.out;
    const auto step = channels * Index(sizeof(bfloat16));
    for (Index panel = 0; panel * kWide < s.out; ++panel)
      for (Index q = 0; q < last; q += kWide) {
        const bfloat16* const first = pixels + q * channels;
        amx::multiply({{first, q + kTile < last ? first + kTile * channels : nullptr},
                       {},
                       step,
                       0,
                       weights + panel * weights_of_panel(),
                       kWide * Index(sizeof(Pair)),
                       to.data(),
                       Index(to.size()),
                       sums,
                       false,
                       weights,
                       0,
                       from.data()});
        put(sums, panel, h0, q, std::min(kWide, last - q), y);
      }
  }
};

}  // namespace

bool suits_bfloat16_pixels(const Correlation& s) {
  if (!amx::is_available() || s.from.channel != 1 || s.to.channel != 1) return false;
  if (s.rows.step != 1 || s.cols.step != 1 || s.taps() == 0 || s.c < kTile || s.out < kTile)
    return false;
  if (s.taps() * rounded_up(s.c, kWide) >= Index(1) << 26) return false;  // offsets fit an int
  const Pixels p(s);
  return 4 * s.cols.out >= 3 * p.width && s.c * 4 >= p.channels * 3 &&
         p.copied(s.rows.out) < (Index(1) << 29);
}

void correlate_bfloat16_pixels(const Correlation& s, const bfloat16* x, const bfloat16* w,
                               bfloat16* y) {
  if (s.rows.out == 0 || s.cols.out == 0) return;
  const Pixels p(s);
  Scratch<Pair> weights(std::size_t((s.out + kWide - 1) / kWide * p.weights_of_panel()));
  p.pack_weights(w, weights.data());
  const Index row = p.width * p.channels * Index(sizeof(bfloat16));
  const Index near = std::clamp<Index>(kNearBytes / row, 1, s.rows.out);
  const Index least = s.n < num_threads() ? num_threads() : 1;
  const Index bands = std::max((s.rows.out + near - 1) / near, std::min(least, s.rows.out));
  const Index work = s.products(1) / bands;
  parallel_for(s.n * bands, 1 + 4'000'000 / (work + 1), [&](Index begin, Index end) {
    Scratch<bfloat16> pixels(std::size_t(p.copied((s.rows.out + bands - 1) / bands)));
    const amx::Tiles tiles(kTile);
    for (Index i = begin; i < end; ++i) {
      const Index image = i / bands, band = i % bands;
      const Index h0 = s.rows.out * band / bands, h1 = s.rows.out * (band + 1) / bands;
      p.copy(x + image * s.from.image, h0, h1, pixels.data());
      p.run(pixels.data(), weights.data(), h0, h1, y + image * s.to.image);
    }
  });
}
#else
bool suits_bfloat16_pixels(const Correlation&) { return false; }
void correlate_bfloat16_pixels(const Correlation&, const bfloat16*, const bfloat16*, bfloat16*) {}
#endif

}  // namespace rushlight::conv
