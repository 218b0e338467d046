// Normal numbers. Note torch's two ways: a contiguous tensor of 16 numbers and more
// takes uniform numbers of its own precision in blocks of 16 (8 radii, 8 angles), and the last 16
// elements are drawn again when blocks do not fill it; everything else takes pairs in double.
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine.h"
#include "kernels/parallel.h"

namespace rushlight::random {
namespace {

constexpr std::int64_t kBlock = 16, kHalf = kBlock / 2, kSpan = 512;

// ln of a normal number above 0: no special cases, as 1 - u is at least 2^-24.
inline float log_of_unit(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t k = (bits - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
  const float m = std::bit_cast<float>(bits - (k << 23)), e = static_cast<float>(k);
  const float s = (m - 1) / (m + 1), z = s * s;
  const float p = 1.f / 3 + z * (1.f / 5 + z * (1.f / 7 + z * (1.f / 9)));
  return e * 0.693145752f + (2 * s + (2 * s * z * p + e * 1.42860677e-6f));
}

// sin and cos of an angle in [0, 2 pi], Cephes' polynomials after removing quarter turns.
inline void sine_cosine(float angle, float& sine, float& cosine) {
  const float magic = 12582912.f, shifted = angle * 0.636619772f + magic, n = shifted - magic;
  const int quarter = static_cast<int>(n);
  float r = angle - n * 1.5703125f;
  r = r - n * 4.83751297e-4f;
  r = r - n * 7.54978995e-8f;
  const float z = r * r;
  const float s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
  const float c =
      1 - 0.5f * z +
      z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const float first = quarter & 1 ? c : s, second = quarter & 1 ? s : c;
  sine = quarter & 2 ? -first : first;
  cosine = (quarter + 1) & 2 ? -second : second;
}

// Uniform numbers as blocks of 16 become normal ones in place.
CLONES_512 void transform(float* x, std::int64_t blocks, float mean, float std) {
  float radius[kSpan / 2], angle[kSpan / 2];
  for (std::int64_t b = 0; b < blocks; b += kSpan / kBlock) {
    const std::int64_t m = std::min(kSpan / kBlock, blocks - b);
    float* const at = x + b * kBlock;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < kHalf; ++j) {
        radius[i * kHalf + j] = 1 - at[i * kBlock + j];
        angle[i * kHalf + j] = at[i * kBlock + kHalf + j];
      }
    }
    for (std::int64_t i = 0; i < m * kHalf; ++i) {
      const float r = std::sqrt(-2 * log_of_unit(radius[i]));
      float s, c;
      sine_cosine(angle[i] * 6.28318530717958647692f, s, c);
      radius[i] = r * c * std + mean;
      angle[i] = r * s * std + mean;
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < kHalf; ++j) {
        at[i * kBlock + j] = radius[i * kHalf + j];
        at[i * kBlock + kHalf + j] = angle[i * kHalf + j];
      }
    }
  }
}

void transform(double* x, std::int64_t blocks, double mean, double std) {
  for (std::int64_t b = 0; b < blocks; ++b, x += kBlock) {
    for (std::int64_t j = 0; j < kHalf; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - x[j]));
      const double angle = 2 * std::numbers::pi * x[j + kHalf];
      x[j] = radius * std::cos(angle) * std + mean;
      x[j + kHalf] = radius * std::sin(angle) * std + mean;
    }
  }
}

template <class C>
void draw_units(C* x, std::int64_t n, RandomState& s) {
  View v{};
  v.data = x;
  v.dtype = sizeof(C) == 8 ? DType::float64 : DType::float32;
  v.rank = 1;
  v.numel = v.sizes[0] = n;
  v.strides[0] = 1;
  cpu_random.uniform(v, 0, 1, s);
}

// The stream is serial, what follows is not: bands of the tensor, each drawn, then transformed.
// A 16-bit tensor gets rounded copies of single precision numbers.
template <class T>
void blocks_of_16(T* x, std::int64_t n, Compute<T> mean, Compute<T> std, RandomState& s) {
  using C = Compute<T>;
  constexpr bool rounds = !std::is_same_v<T, C>;
  constexpr std::int64_t band = rounds ? 1 << 14 : 1 << 20;
  std::vector<C> made(rounds ? std::min(band, n) : 0);
  const auto draw = [&](T* to, std::int64_t m) {
    C* at;
    if constexpr (rounds) {
      at = made.data();
    } else {
      at = to;
    }
    draw_units(at, m, s);
    parallel_for(m / kBlock, 1 << 12, [&](std::int64_t i, std::int64_t j) {
      transform(at + i * kBlock, j - i, mean, std);
    });
    if constexpr (rounds) {
      for (std::int64_t i = 0; i < m; ++i) store(to + i, at[i]);
    }
  };
  // torch wastes numbers on the incomplete block, except for the 16-bit types.
  const std::int64_t first = rounds ? n / kBlock * kBlock : n;
  for (std::int64_t i = 0; i < first; i += band) draw(x + i, std::min(band, first - i));
  if (n % kBlock) draw(x + n - kBlock, kBlock);
}

bool is_contiguous(const View& v) {
  std::int64_t expected = 1;
  for (int d = v.rank - 1; d >= 0; --d) {
    if (v.sizes[d] == 1) continue;
    if (v.strides[d] != expected) return false;
    expected *= v.sizes[d];
  }
  return true;
}

}  // namespace

void normal(const View& out, double mean, double std, RandomState& s) {
  dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
    if (out.numel >= kBlock && is_contiguous(out)) {
      return blocks_of_16<T>(out.as<T>(), out.numel, static_cast<Compute<T>>(mean),
                             static_cast<Compute<T>>(std), s);
    }
    fill<T>(out, [&](T* x, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        store(x + i, static_cast<Compute<T>>(take_normal(s) * std + mean));
    });
  });
}

void log_normal(const View& out, double mean, double std, RandomState& s) {
  dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
    fill<T>(out, [&](T* x, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        store(x + i, static_cast<Compute<T>>(std::exp(take_normal(s) * std + mean)));
    });
  });
}

}  // namespace rushlight::random
