// See resample_bytes.h. One loop serves both axes: whole rows, each with one weight, are added up.
// Along the height these are the image's own; along the width, where an element has few bytes,
// sixteen lines are transposed, and its bytes of these lines are such a row.
#include "resample_bytes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../parallel.h"
#include "scratch.h"
#include "transpose.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {
namespace {

using Index = std::int64_t;
using Byte = std::uint8_t;

constexpr Index kLanes = 16;
constexpr Index kWide = 32;             // bytes of an element that need no transposing
constexpr Index kFewLines = 4;          // so few need none either: most lanes would idle
constexpr Index kKept = Index(1) << 18;  // bytes of lines that stay in the cache between the axes
constexpr double kMost = (1 << 15) - 1;  // no weight has more

struct Run {
  Index first, count;
  const std::uint32_t* pairs;  // of weights, 16 bits each, the first one low
};

// The nearest whole number, in 16 bits; of NaN, 0.
std::uint16_t whole(double weight) {
  const double w = weight + (weight < 0 ? -0.5 : 0.5);
  return w == w ? std::uint16_t(int(std::clamp(w, -kMost, kMost))) : 0;
}

// The inputs and weights of an axis. As torch has them: computed in double, whole multiples of a
// power of two of which the largest weight has 15 bits.
class ByteTaps {
 public:
  ByteTaps(const ResampleShape& s, int axis)
      : in(s.in[axis]), out(s.out[axis]), keeps(s.keeps(axis)), taps_(s.taps(axis)) {
    if (keeps) return;
    const Index pairs = (taps_ + 1) / 2;
    runs_.resize(std::size_t(out));
    pairs_.assign(std::size_t(out * pairs), 0);
    std::vector<double> weights(std::size_t(out * taps_), 0.0),
        own(static_cast<std::size_t>(taps_));
    double largest = 0;
    for (Index q = 0; q < out; ++q) {
      const Taps at = resample_taps(s, axis, q, own.data(), 1);
      const auto inside = [&](Index i) { return std::clamp<Index>(i, 0, in - 1); };
      Run& run = runs_[std::size_t(q)];
      run = {inside(at.first), 1, pairs_.data() + q * pairs};
      double* const sums = weights.data() + q * taps_;
      for (Index k = 0; k < at.count; ++k) {  // beyond the edge, its input's weight grows
        sums[inside(at.first + k) - run.first] += own[std::size_t(k)];
        run.count = inside(at.first + k) - run.first + 1;
      }
      largest = std::max(largest, *std::max_element(sums, sums + run.count));
    }
    while (bits < 22 && 0.5 + std::ldexp(largest, bits + 1) < 1 << 15) ++bits;
    const double unit = std::ldexp(1.0, bits);
    for (Index q = 0; q < out; ++q)
      for (Index k = 0; k < taps_; ++k)
        pairs_[std::size_t(q * pairs + k / 2)] |=
            std::uint32_t(whole(weights[std::size_t(q * taps_ + k)] * unit)) << (k % 2 * 16);
  }
  const Run* runs() const { return runs_.data(); }
  // The inputs of outputs [begin, end).
  Index low(Index begin, Index end) const {
    if (keeps) return begin;
    Index low = in;
    for (Index q = begin; q < end; ++q) low = std::min(low, runs_[std::size_t(q)].first);
    return low;
  }
  Index high(Index begin, Index end) const {
    if (keeps) return end;
    Index high = 0;
    for (Index q = begin; q < end; ++q) {
      const Run& run = runs_[std::size_t(q)];
      high = std::max(high, run.first + run.count);
    }
    return high;
  }

  Index in, out;
  bool keeps;
  int bits = 0;

 private:
  Index taps_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> pairs_;
};

unsigned weight_of(const Run& run, Index k) {  // an int's bits: sums wrap instead of overflowing
  return unsigned(int(std::int16_t(run.pairs[k / 2] >> (k % 2 * 16))));
}
Byte element(const Run& run, int bits, const Byte* x, Index n) {
  unsigned sum = 1u << bits >> 1;
  for (Index k = 0; k < run.count; ++k) sum += x[k * n] * weight_of(run, k);
  return Byte(std::clamp(int(sum) >> bits, 0, 255));
}

// One output, Blocks times 16 bytes of it: of two inputs at a time, whose products one instruction
// adds up.
#if defined(__x86_64__)
template <int Blocks>
[[gnu::always_inline, gnu::target("avx2")]] inline void blend_lanes(const Run& run, int bits,
                                                                    const Byte* x, Index n,
                                                                    Byte* y) {
  const __m256i half = _mm256_set1_epi32(1 << bits >> 1);
  const __m128i shift = _mm_cvtsi32_si128(bits);
  __m256i low[Blocks], high[Blocks];
#pragma GCC unroll 4
  for (int i = 0; i < Blocks; ++i) low[i] = high[i] = half;
  const Index pairs = (run.count + 1) / 2, last = (run.count - 1) * n;
  for (Index p = 0; p < pairs; ++p) {
    const __m256i w = _mm256_set1_epi32(int(run.pairs[p]));
    const Byte *const one = x + 2 * p * n, *const two = x + std::min((2 * p + 1) * n, last);
#pragma GCC unroll 4
    for (int i = 0; i < Blocks; ++i) {
      const auto* const from = reinterpret_cast<const __m128i*>(one) + i;
      const auto* const next = reinterpret_cast<const __m128i*>(two) + i;
      const __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128(from)),
                    b = _mm256_cvtepu8_epi16(_mm_loadu_si128(next));
      low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w));
      high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Blocks; ++i) {
    const __m256i words =
        _mm256_packs_epi32(_mm256_sra_epi32(low[i], shift), _mm256_sra_epi32(high[i], shift));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(y) + i,
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
}
[[gnu::target("avx2")]] void blend_rows(const Run* runs, int bits, Index begin, Index end,
                                        Index from, Index n, const Byte* x, Byte* y) {
  for (Index q = begin; q < end; ++q, y += n) {
    const Byte* const row = x + (runs[q].first - from) * n;
    Index i = 0;
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) blend_lanes<4>(runs[q], bits, row + i, n, y + i);
    for (; i + kLanes <= n; i += kLanes) blend_lanes<1>(runs[q], bits, row + i, n, y + i);
    if (i < n)  // the last lanes again
      blend_lanes<1>(runs[q], bits, row + n - kLanes, n, y + n - kLanes);
  }
}
bool is_able() {
  static const bool able = __builtin_cpu_supports("avx2");
  return able;
}
#else
void blend_rows(const Run*, int, Index, Index, Index, Index, const Byte*, Byte*) {}
bool is_able() { return false; }
#endif

// Outputs [begin, end), rows of n bytes; x begins with input `from`.
void blend(const ByteTaps& t, Index begin, Index end, Index from, Index n, const Byte* x, Byte* y) {
  if (n >= kLanes && is_able()) return blend_rows(t.runs(), t.bits, begin, end, from, n, x, y);
  for (Index q = begin; q < end; ++q, y += n) {
    const Run& run = t.runs()[q];
    for (Index i = 0; i < n; ++i) y[i] = element(run, t.bits, x + (run.first - from) * n + i, n);
  }
}

// `lines` lines of t.in elements of `inner` bytes along t.
void along_lines(const ByteTaps& t, const Byte* x, Index lines, Index inner, Byte* y) {
  const Index in = t.in * inner, out = t.out * inner;
  if (inner >= kWide || lines < kFewLines) {
    for (Index i = 0; i < lines; ++i) blend(t, 0, t.out, 0, inner, x + i * in, y + i * out);
    return;
  }
  Scratch<Byte> from(std::size_t(in * kLanes)), to(std::size_t(out * kLanes));
  if (lines < kLanes) from.zero();
  for (Index i = 0; i < lines; i += kLanes) {
    const Index first = std::max<Index>(0, std::min(i, lines - kLanes));  // the last lanes again
    const Index n = std::min(lines, kLanes);
    transpose(x + first * in, in, n, in, from.data(), kLanes);
    blend(t, 0, t.out, 0, inner * kLanes, from.data(), to.data());
    transpose(to.data(), kLanes, out, n, y + first * out, out);
  }
}

// Rows [begin, end) of one image.
void band(const ByteTaps& height, const ByteTaps& width, Index inner, Index begin, Index end,
          const Byte* x, Byte* y) {
  const Index in = width.in * inner, out = width.out * inner;
  if (height.keeps) return along_lines(width, x + begin * in, end - begin, inner, y + begin * out);
  const Index low = height.low(begin, end), lines = height.high(begin, end) - low;
  const Byte* made = x + low * in;
  Scratch<Byte> kept(width.keeps ? 1 : std::size_t(lines * out));
  if (!width.keeps) {
    along_lines(width, made, lines, inner, kept.data());
    made = kept.data();
  }
  blend(height, begin, end, low, out, made, y + begin * out);
}

}  // namespace

void resample_bytes(const ResampleShape& s, const View& input, const View& out) {
  const int first = s.keeps(2) || (s.in[2] == 1 && s.out[2] == 1) ? 0 : 1;
  const ByteTaps height(s, first), width(s, first + 1);
  const Index inner = first == 0 ? s.in[2] : 1, images = s.planes * (first == 0 ? 1 : s.in[0]);
  const Index from = height.in * width.in * inner, to = height.out * width.out * inner;
  const auto* const x = input.as<const Byte>();
  auto* const y = out.as<Byte>();
  if (height.keeps && width.keeps) {
    std::copy_n(x, images * from, y);
    return;
  }
  const Index bands = std::clamp<Index>(height.in * width.out * inner / kKept, 1, height.out);
  parallel_for(images * bands, 1 + 65536 * bands / (from + to), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index image = i / bands, b = i % bands;
      band(height, width, inner, height.out * b / bands, height.out * (b + 1) / bands,
           x + image * from, y + image * to);
    }
  });
}

}  // namespace rushlight
