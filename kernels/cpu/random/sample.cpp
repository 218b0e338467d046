// Permutations, dropout, rrelu's slopes and sampling from given probabilities.
#include <cmath>
#include <vector>

#include "engine.h"
#include "kernels/cpu/interruptible.h"

namespace rushlight::random {
namespace {

// Above this count 32 bits are too few for fair remainders; torch then takes 64 and the other
// direction of the shuffle.
constexpr std::int64_t kLargePermutation = 0xffffffffll / 20;

template <class T>
void shuffle(T* r, std::int64_t stride, std::int64_t n, RandomState& s) {
  const auto value = [](std::int64_t i) { return static_cast<Compute<T>>(i); };
  Interruptible interruptible;
  if (n >= kLargePermutation) {
    for (std::int64_t i = 0; i < n; ++i) {
      interruptible.done(16);
      const auto at = static_cast<std::int64_t>(take_long(s) % static_cast<std::uint64_t>(i + 1));
      store(r + i * stride, value(i));
      std::swap(r[i * stride], r[at * stride]);
    }
    return;
  }
  serial_for(n, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) store(r + i * stride, value(i));
  });
  std::uint32_t words[kChunk];
  for (std::int64_t i = 0; i < n - 1;) {
    const std::int64_t m = std::min(kChunk, n - 1 - i);
    take_words(s, words, m);
    interruptible.done(m * 16);  // most of these exchanges wait for memory
    for (std::int64_t k = 0; k < m; ++k, ++i) {
      const std::int64_t other = i + words[k] % static_cast<std::uint32_t>(n - i);
      std::swap(r[i * stride], r[other * stride]);
    }
  }
}

template <class T>
CLONES_512 void drop(T* __restrict out, T* __restrict noise, const T* __restrict input,
                     const std::uint64_t* __restrict longs, std::int64_t n, std::uint64_t limit,
                     Compute<T> scale) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Compute<T> x = (longs[i] & ((1ull << 53) - 1)) < limit ? scale : Compute<T>(0);
    store(noise + i, x);
    store(out + i, load(input + i) * x);
  }
}

}  // namespace

void permutation(const View& out, RandomState& s) {
  dispatch_all(out.dtype, [&]<class T>(Type<T>) {
    shuffle(out.as<T>(), out.rank ? out.strides[0] : 1, out.numel, s);
  });
}

void dropout(const View& out, const View& noise, const View& input, double keep, RandomState& s) {
  const auto limit = static_cast<std::uint64_t>(std::ceil(keep * 0x1p53));
  dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
    T rounded;
    store(&rounded, Compute<T>(1) / static_cast<Compute<T>>(keep));
    const Compute<T> scale = load(&rounded);
    std::uint64_t longs[kChunk];
    Interruptible interruptible;
    for (std::int64_t i = 0; i < out.numel; i += kChunk) {
      const std::int64_t m = std::min(kChunk, out.numel - i);
      take_longs(s, longs, m);
      interruptible.done(m * 4);
      drop(out.as<T>() + i, noise.as<T>() + i, input.as<const T>() + i, longs, m, limit, scale);
    }
  });
}

void slopes(const View& noise, const View& input, double lower, double upper, RandomState& s) {
  dispatch_floating(noise.dtype, [&]<class T>(Type<T>) {
    T* const to = noise.as<T>();
    const T* const from = input.as<const T>();
    const double low = static_cast<Compute<T>>(lower), high = static_cast<Compute<T>>(upper);
    Interruptible interruptible;
    for (std::int64_t i = 0; i < noise.numel; ++i) {
      if (i % kChunk == 0) interruptible.done(kChunk * 4);
      const bool bends = load(from + i) <= 0;  // the others draw nothing, as in torch
      store(to + i, static_cast<Compute<T>>(bends ? take_unit(s) * (high - low) + low : 1.0));
    }
  });
}

std::int64_t multinomial(const View& out, const View& p, RandomState& s) {
  const std::int64_t rows = p.sizes[0], columns = p.sizes[1], samples = out.sizes[1];
  return dispatch_floating(p.dtype, [&]<class T>(Type<T>) -> std::int64_t {
    using C = Compute<T>;
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return load(p.as<const T>() + r * p.strides[0] + c * p.strides[1]);
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      C sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        if (!(at(r, c) >= 0) || !std::isfinite(at(r, c))) return r;
        sum += at(r, c);
      }
      if (!(sum > 0)) return r;
    }
    std::vector<C> cumulative(static_cast<std::size_t>(columns));
    for (std::int64_t r = 0; r < rows; ++r) {
      C sum = 0;
      for (std::int64_t c = 0; c < columns; ++c)
        cumulative[static_cast<std::size_t>(c)] = sum += at(r, c);
      for (C& c : cumulative) c /= sum;
      cumulative.back() = 1;
      Interruptible interruptible;
      for (std::int64_t j = 0; j < samples; ++j) {
        interruptible.done(32);
        const double unit = take_unit(s);
        const auto found = std::lower_bound(cumulative.begin(), cumulative.end(), unit,
                                            [](C c, double u) { return double(c) < u; });
        out.as<std::int64_t>()[r * out.strides[0] + j * out.strides[1]] =
            found - cumulative.begin();
      }
    }
    return -1;
  });
}

}  // namespace rushlight::random
