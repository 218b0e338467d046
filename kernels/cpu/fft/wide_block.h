// What block.cpp does in vectors of 64 bytes.
#pragma once
#include <algorithm>

#include "block.h"
#include "kernels/cpu/wide_vector.h"
#include "vectors.h"

#if defined(__x86_64__)
namespace rushlight::fft {

// The lanes of a vector's worth of pairs: those of its numbers in two vectors, and of its pairs.
template <class T>
struct PairLanes {
  __mmask16 low, high, pairs;
  explicit PairLanes(Index count)
      : low(first_lanes(std::min(2 * count, kLines<T>))),
        high(first_lanes(std::max<Index>(2 * count - kLines<T>, 0))),
        pairs(first_lanes(count)) {}
};
template <class T>
[[gnu::target("arch=x86-64-v4")]] void take_wide_rows(const T* from, Index step, Index width,
                                                      Index n, T* re, T* im) {
  using W = Wide<T>;
  using V = typename VectorOf<T, int(kLines<T>)>::type;
  for (Index l = 0; l < width; l += kLines<T>) {
    const PairLanes<T> lanes(std::min(kLines<T>, width - l));
    for (Index j = 0; j < n; ++j) {
      const T* const x = from + j * step + 2 * l;
      V a = V(W::load(lanes.low, x)), b = V(W::load(lanes.high, x + kLines<T>));
      unzip(a, b, std::make_integer_sequence<int, int(kLines<T>)>());
      W::store(re + j * width + l, lanes.pairs, typename W::Vector(a));
      W::store(im + j * width + l, lanes.pairs, typename W::Vector(b));
    }
  }
}
template <class T>
[[gnu::target("arch=x86-64-v4")]] void put_wide_rows(const T* re, const T* im, Index step,
                                                     Index width, Index n, T scale_re, T scale_im,
                                                     T* to) {
  using W = Wide<T>;
  using V = typename VectorOf<T, int(kLines<T>)>::type;
  for (Index l = 0; l < width; l += kLines<T>) {
    const PairLanes<T> lanes(std::min(kLines<T>, width - l));
    for (Index j = 0; j < n; ++j) {
      V a = V(W::load(lanes.pairs, re + j * width + l)) * scale_re;
      V b = V(W::load(lanes.pairs, im + j * width + l)) * scale_im;
      zip(a, b, std::make_integer_sequence<int, int(kLines<T>)>());
      T* const x = to + j * step + 2 * l;
      W::store(x, lanes.low, typename W::Vector(a));
      W::store(x + kLines<T>, lanes.high, typename W::Vector(b));
    }
  }
}
// Dense lines of pairs, kLines<T> of them, as many values at a time as a vector holds: pairs are
// transposed, in two sets of lines, of which real and imaginary parts are then taken together.
// Returns how many values that were, of each line.
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index take_tiles(const T* from, const Numbers& at, Index count,
                                                   T* re, T* im) {
  constexpr int n = int(kLines<T>), h = n / 2;
  using V = typename VectorOf<T, n>::type;
  Index j = 0;
  for (; j + h <= count; j += h) {
    V t[2][h];
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) t[l / h][l % h] = load_vector<V>(from + at.offsets[l] + 2 * j);
    by_columns<h, n, 2>(t[0]);
    by_columns<h, n, 2>(t[1]);
#pragma GCC unroll 16
    for (int i = 0; i < h; ++i) {
      unzip(t[0][i], t[1][i], std::make_integer_sequence<int, n>());
      store_vector(re + (j + i) * n, t[0][i]);
      store_vector(im + (j + i) * n, t[1][i]);
    }
  }
  return j;
}
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index put_tiles(const T* re, const T* im, const Numbers& at,
                                                  Index count, T scale_re, T scale_im, T* to) {
  constexpr int n = int(kLines<T>), h = n / 2;
  using V = typename VectorOf<T, n>::type;
  Index j = 0;
  for (; j + h <= count; j += h) {
    V t[2][h];
#pragma GCC unroll 16
    for (int i = 0; i < h; ++i) {
      t[0][i] = load_vector<V>(re + (j + i) * n) * scale_re;
      t[1][i] = load_vector<V>(im + (j + i) * n) * scale_im;
      zip(t[0][i], t[1][i], std::make_integer_sequence<int, n>());
    }
    by_columns<h, n, 2>(t[0]);
    by_columns<h, n, 2>(t[1]);
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) store_vector(to + at.offsets[l] + 2 * j, t[l / h][l % h]);
  }
  return j;
}

// The same of fewer lines, and of what is left over: as many values as fill 16 bytes, in vectors
// whose four lanes of 16 bytes each hold another line, so that nothing else crosses lanes.
template <class T>
inline constexpr int kPiece = int(16 / sizeof(T));  // numbers in a lane, and vectors
template <class T>
using Lanes = typename VectorOf<T, 4 * kPiece<T>>::type;

// kPiece vectors: in each lane, the columns of them one after another.
template <class T, int... k>
[[gnu::always_inline]] inline void turn_lanes(Lanes<T> (&t)[kPiece<T>],
                                              std::integer_sequence<int, k...>) {
  constexpr int n = sizeof...(k), p = kPiece<T>;
#pragma GCC unroll 2
  for (int round = 1; round < p; round *= 2) {
    Lanes<T> zipped[p];
#pragma GCC unroll 2
    for (int i = 0; i < p / 2; ++i) {
      const Lanes<T> a = t[i], b = t[i + p / 2];
      zipped[2 * i] = __builtin_shufflevector(a, b, (k / p * p + k % p / 2 + k % 2 * n)...);
      zipped[2 * i + 1] =
          __builtin_shufflevector(a, b, (k / p * p + p / 2 + k % p / 2 + k % 2 * n)...);
    }
#pragma GCC unroll 4
    for (int i = 0; i < p; ++i) t[i] = zipped[i];
  }
}
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index take_pieces(const T* from, const Numbers& at, Index count,
                                                    T* re, T* im, Index j) {
  constexpr int p = kPiece<T>, n = 4 * p;
  Index offsets[n];  // beyond the last line, that one again
  for (Index l = 0; l < n; ++l) offsets[l] = at.offsets[std::min(l, at.count - 1)];
  const __mmask16 lines = first_lanes(at.count);
  for (; j + p / 2 <= count; j += p / 2) {
    Lanes<T> t[p];
#pragma GCC unroll 4
    for (int i = 0; i < p; ++i) {
      const T* const x = from + 2 * j;
      __m512 v = _mm512_castps128_ps512(load_vector<__m128>(x + offsets[i]));
      v = _mm512_insertf32x4(v, load_vector<__m128>(x + offsets[i + p]), 1);
      v = _mm512_insertf32x4(v, load_vector<__m128>(x + offsets[i + 2 * p]), 2);
      t[i] = Lanes<T>(_mm512_insertf32x4(v, load_vector<__m128>(x + offsets[i + 3 * p]), 3));
    }
    turn_lanes<T>(t, std::make_integer_sequence<int, n>());
#pragma GCC unroll 2
    for (int i = 0; i < p / 2; ++i) {
      using W = Wide<T>;
      W::store(re + (j + i) * at.count, lines, typename W::Vector(t[2 * i]));
      W::store(im + (j + i) * at.count, lines, typename W::Vector(t[2 * i + 1]));
    }
  }
  return j;
}
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index put_pieces(const T* re, const T* im, const Numbers& at,
                                                   Index count, T scale_re, T scale_im, T* to,
                                                   Index j) {
  constexpr int p = kPiece<T>, n = 4 * p;
  const Index lines = at.count;
  const __mmask16 mask = first_lanes(lines);
  for (; j + p / 2 <= count; j += p / 2) {
    Lanes<T> t[p];
#pragma GCC unroll 2
    for (int i = 0; i < p / 2; ++i) {
      t[2 * i] = Lanes<T>(Wide<T>::load(mask, re + (j + i) * lines)) * scale_re;
      t[2 * i + 1] = Lanes<T>(Wide<T>::load(mask, im + (j + i) * lines)) * scale_im;
    }
    turn_lanes<T>(t, std::make_integer_sequence<int, n>());
#pragma GCC unroll 4
    for (int i = 0; i < p; ++i) {
      T* const x = to + 2 * j;
      const __m512d v = __m512d(t[i]);
      const __m256d low = __builtin_shufflevector(v, v, 0, 1, 2, 3);
      const __m256d high = __builtin_shufflevector(v, v, 4, 5, 6, 7);
      const auto put = [&](int line, __m128d v) {
        if (line < lines) store_vector(x + at.offsets[line], v);
      };
      put(i, _mm256_castpd256_pd128(low));
      put(i + p, _mm256_extractf128_pd(low, 1));
      put(i + 2 * p, _mm256_castpd256_pd128(high));
      put(i + 3 * p, _mm256_extractf128_pd(high, 1));
    }
  }
  return j;
}

}  // namespace rushlight::fft
#endif
