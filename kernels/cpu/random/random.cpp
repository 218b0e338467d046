// Fills whose numbers come one by one from one or two words each: uniform, integers, bernoulli and
// the distributions made from one uniform number. Which of them take one word, which two, is
// torch's choice by dtype and range.
#include <cmath>
#include <numbers>

#include "engine.h"

namespace rushlight::random {
namespace {

template <class T>
inline constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kDigits<float16> = 11;
template <>
inline constexpr int kDigits<bfloat16> = 8;

// 24 bits whatever the dtype; a number that rounds up to the upper bound becomes the lower one.
template <class T>
CLONES_512 void words_to_uniform(T* __restrict out, const std::uint32_t* __restrict words,
                                 std::int64_t n, float from, float width, T low, float high) {
  for (std::int64_t i = 0; i < n; ++i) {
    // In double, so that the sum is rounded once on every processor, as by torch's fused step.
    const double unit = double(std::int32_t(words[i] & 0xffffff)) * 0x1p-24;
    T made;
    store(&made, static_cast<float>(unit * double(width) + double(from)));
    out[i] = load(&made) == high ? low : made;
  }
}

CLONES_512 void scale_units(double* x, std::int64_t n, double from, double to) {
  const double width = to - from;
  for (std::int64_t i = 0; i < n; ++i) {
    const double made = x[i] * width + from;
    x[i] = made == to ? from : made;
  }
}

void uniform(const View& out, double from, double to, RandomState& s) {
  dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
    if constexpr (std::is_same_v<T, double>) {
      fill<T>(out, [&](T* x, std::int64_t n) {
        take_units(s, x, n);
        scale_units(x, n, from, to);
      });
    } else {
      const float start = static_cast<float>(from), width = static_cast<float>(to) - start;
      T low, high;
      store(&low, start);
      store(&high, static_cast<float>(to));
      fill<T>(out, [&](T* x, std::int64_t n) {
        std::uint32_t words[kChunk];
        take_words(s, words, n);
        words_to_uniform(x, words, n, start, width, low, load(&high));
      });
    }
  });
}

// Remainders by multiplication: the quotient from doubles is at most one off.
template <class T>
CLONES_512 void words_to_integers(T* __restrict out, const std::uint32_t* __restrict words,
                                  std::int64_t n, std::int64_t base, std::int64_t range) {
  const double inverse = 1 / static_cast<double>(range);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t word = words[i];
    const std::int64_t quotient = static_cast<std::int64_t>(static_cast<double>(word) * inverse);
    std::int64_t rest = word - quotient * range;
    rest += rest < 0 ? range : 0;
    rest -= rest >= range ? range : 0;
    if constexpr (std::is_same_v<T, bool>) {
      out[i] = rest + base != 0;
    } else {
      store(out + i, static_cast<Compute<T>>(rest + base));
    }
  }
}

template <class T>
void fill_integers(const View& out, std::int64_t base, std::uint64_t range, bool wide,
                   RandomState& s) {
  fill<T>(out, [&](T* x, std::int64_t n) {
    if (!wide) {
      std::uint32_t words[kChunk];
      take_words(s, words, n);
      words_to_integers(x, words, n, base, static_cast<std::int64_t>(range));
      return;
    }
    std::uint64_t longs[kChunk];
    take_longs(s, longs, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t rest = range ? longs[i] % range : longs[i];
      const auto value = static_cast<std::int64_t>(rest + static_cast<std::uint64_t>(base));
      if constexpr (std::is_same_v<T, bool>) {
        x[i] = value != 0;
      } else {
        store(x + i, static_cast<Compute<T>>(value));
      }
    }
  });
}

void integers(const View& out, std::int64_t base, std::uint64_t range, RandomState& s) {
  const bool wide = range == 0 || range >= 1u << 28;
  dispatch_all(out.dtype, [&]<class T>(Type<T>) { fill_integers<T>(out, base, range, wide, s); });
}

void natural(const View& out, RandomState& s) {
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    constexpr bool exact = std::is_integral_v<T>;  // else 2^digits itself is in the range too
    constexpr std::uint64_t range = (1ull << kDigits<T>)+!exact;
    fill_integers<T>(out, 0, range, sizeof(T) == 8, s);
  });
}

// x < p for x of 53 bits, as integers.
inline std::uint64_t threshold(double p) {
  return static_cast<std::uint64_t>(std::ceil(std::clamp(p, 0., 1.) * 0x1p53));
}

template <class T>
CLONES_512 void longs_to_bernoulli(T* __restrict out, const std::uint64_t* __restrict longs,
                                   std::int64_t n, std::uint64_t limit) {
  for (std::int64_t i = 0; i < n; ++i)
    store(out + i, static_cast<Compute<T>>((longs[i] & ((1ull << 53) - 1)) < limit));
}

void bernoulli(const View& out, double p, RandomState& s) {
  const std::uint64_t limit = threshold(p);
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    fill<T>(out, [&](T* x, std::int64_t n) {
      std::uint64_t longs[kChunk];
      take_longs(s, longs, n);
      longs_to_bernoulli(x, longs, n, limit);
    });
  });
}

void bernoulli_each(const View& out, const View& p, RandomState& s) {
  if (out.numel == 0) return;
  const Walk walk(out, &p);
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    dispatch_floating(p.dtype, [&]<class P>(Type<P>) {
      walk.rows([&](std::int64_t at, std::int64_t second, std::int64_t n) {
        T* const to = out.as<T>() + at;
        const P* const from = p.as<const P>() + second;
        serial_for(n, [&](std::int64_t i, std::int64_t end) {
          for (; i < end; ++i) {
            const auto chance = load(from + i * walk.other[0]);
            bool hit;
            if constexpr (std::is_same_v<P, double>) {
              hit = take_unit(s) < chance;
            } else {
              hit = static_cast<float>(take_word(s) & 0xffffff) * 0x1p-24f < chance;
            }
            store(to + i * walk.strides[0], static_cast<Compute<T>>(hit));
          }
        });
      });
    });
  });
}

// Distributions of one 53-bit uniform number each, computed in double whatever the dtype.
template <class F>
void from_units(const View& out, RandomState& s, F&& transform) {
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    fill<T>(out, [&](T* x, std::int64_t n) {
      double units[kChunk];
      take_units(s, units, n);
      for (std::int64_t i = 0; i < n; ++i) store(x + i, convert<Compute<T>>(transform(units[i])));
    });
  });
}

void exponential(const View& out, double lambda, RandomState& s) {
  from_units(out, s, [=](double u) { return -1 / lambda * std::log1p(-u); });
}

void geometric(const View& out, double p, RandomState& s) {
  const double scale = std::log1p(-p);
  from_units(out, s, [=](double u) { return std::ceil(std::log(u) / scale); });
}

void cauchy(const View& out, double median, double sigma, RandomState& s) {
  from_units(out, s,
             [=](double u) { return median + sigma * std::tan(std::numbers::pi * (u - 0.5)); });
}

}  // namespace
}  // namespace rushlight::random

const rushlight::RandomKernels rushlight::cpu_random = {
    random::uniform,     random::normal,      random::integers,       random::natural,
    random::permutation, random::bernoulli,   random::bernoulli_each, random::dropout,
    random::slopes,      random::exponential, random::geometric,      random::log_normal,
    random::cauchy,      random::multinomial, random::drawn,
};
