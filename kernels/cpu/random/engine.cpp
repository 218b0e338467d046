// mt19937: the recurrence reaches back 227 and 397 words, so its loops are free of short
// dependencies and gcc vectorises them; the stream is that of the scalar text.
#include "engine.h"

#include <cmath>
#include <numbers>

namespace rushlight::random {
namespace {

constexpr int kShift = 397;

inline std::uint32_t mixed(std::uint32_t a, std::uint32_t b) {
  return ((a & 0x80000000u) | (b & 0x7fffffffu)) >> 1 ^ ((0u - (b & 1u)) & 0x9908b0dfu);
}

CLONES_512 void twist(std::uint32_t* s) {
  for (int i = 0; i < kEngineWords - kShift; ++i) s[i] = s[i + kShift] ^ mixed(s[i], s[i + 1]);
  for (int i = kEngineWords - kShift; i < kEngineWords - 1; ++i)
    s[i] = s[i + kShift - kEngineWords] ^ mixed(s[i], s[i + 1]);
  s[kEngineWords - 1] = s[kShift - 1] ^ mixed(s[kEngineWords - 1], s[0]);
}

inline std::uint32_t tempered(std::uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ y >> 18;
}

CLONES_512 void temper(std::uint32_t* __restrict out, const std::uint32_t* __restrict in, int n) {
  for (int i = 0; i < n; ++i) out[i] = tempered(in[i]);
}

CLONES_512 void pair_up(std::uint64_t* __restrict out, const std::uint32_t* __restrict in, int n) {
  for (int i = 0; i < n; ++i) out[i] = std::uint64_t(in[2 * i]) << 32 | in[2 * i + 1];
}

CLONES_512 void to_units(double* __restrict out, const std::uint64_t* __restrict in, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<double>(std::int64_t(in[i] & ((1ull << 53) - 1))) * 0x1p-53;
}

void refill(RandomState& s) {
  twist(s.words);
  s.next = 0;
  s.fresh = false;
}

}  // namespace

void take_words(RandomState& s, std::uint32_t* out, std::int64_t n) {
  while (n > 0) {
    if (s.next == kEngineWords) refill(s);
    const int m = static_cast<int>(std::min<std::int64_t>(n, kEngineWords - s.next));
    temper(out, s.words + s.next, m);
    s.next += m;
    out += m;
    n -= m;
  }
}

std::uint32_t take_word(RandomState& s) {
  if (s.next == kEngineWords) refill(s);
  return tempered(s.words[s.next++]);
}

void take_longs(RandomState& s, std::uint64_t* out, std::int64_t n) {
  std::uint32_t words[2 * kChunk];
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const int m = static_cast<int>(std::min(kChunk, n - i));
    take_words(s, words, 2 * m);
    pair_up(out + i, words, m);
  }
}

void take_units(RandomState& s, double* out, std::int64_t n) {
  std::uint64_t longs[kChunk];
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const int m = static_cast<int>(std::min(kChunk, n - i));
    take_longs(s, longs, m);
    to_units(out + i, longs, m);
  }
}

double take_normal(RandomState& s) {
  if (s.has_double) {
    s.has_double = false;
    return s.next_double;
  }
  const double angle = 2 * std::numbers::pi * take_unit(s);
  const double radius = std::sqrt(-2 * std::log1p(-take_unit(s)));
  s.next_double = radius * std::sin(angle);
  s.has_double = true;
  return radius * std::cos(angle);
}

}  // namespace rushlight::random
