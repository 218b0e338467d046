// Lines of a tensor into planes and back.
#include "block.h"

#include <algorithm>

#include "kernels/cpu/wide_vector.h"
#include "kernels/host_device.h"
#include "vectors.h"

namespace rushlight::fft {
namespace {

// Whether lines are neighbours, `apart` numbers from each other.
bool are_apart(const Numbers& at, Index apart) {
  for (Index l = 1; l < at.count; ++l)
    if (at.offsets[l] - at.offsets[l - 1] != apart) return false;
  return true;
}

template <class T>
CLONES void take_dense(const T* __restrict from, Index step, Index width, Index n, T* __restrict re,
                       T* __restrict im) {
  for (Index j = 0; j < n; ++j, from += step, re += width, im += width)
    for (Index l = 0; l < width; ++l) re[l] = from[2 * l], im[l] = from[2 * l + 1];
}
template <class T>
CLONES void put_dense(const T* __restrict re, const T* __restrict im, Index step, Index width,
                      Index n, T scale_re, T scale_im, T* __restrict to) {
  for (Index j = 0; j < n; ++j, to += step, re += width, im += width)
    for (Index l = 0; l < width; ++l)
      to[2 * l] = re[l] * scale_re, to[2 * l + 1] = im[l] * scale_im;
}

#if defined(__x86_64__)
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

template <class T>
Index take_quickly(const T* from, const Numbers& at, Index count, T* re, T* im) {
  if (at.step != 2 || at.count > kLines<T> || !prefers_wide_vectors()) return 0;
  const Index done = at.count == kLines<T> ? take_tiles(from, at, count, re, im) : 0;
  return take_pieces(from, at, count, re, im, done);
}
template <class T>
Index put_quickly(const T* re, const T* im, const Numbers& at, Index count, T scale_re, T scale_im,
                  T* to) {
  if (at.step != 2 || at.count > kLines<T> || !prefers_wide_vectors()) return 0;
  const Index done =
      at.count == kLines<T> ? put_tiles(re, im, at, count, scale_re, scale_im, to) : 0;
  return put_pieces(re, im, at, count, scale_re, scale_im, to, done);
}
#else
template <class T>
Index take_quickly(const T*, const Numbers&, Index, T*, T*) {
  return 0;
}
template <class T>
Index put_quickly(const T*, const T*, const Numbers&, Index, T, T, T*) {
  return 0;
}
#endif

}  // namespace

template <class T>
void take(const T* from, const Numbers& at, Index present, Index n, T* to) {
  const Index lines = at.count;
  for (Index l = 0; l < lines; ++l) {
    const T* const x = from + at.offsets[l];
    for (Index j = 0; j < present; ++j) to[j * lines + l] = x[j * at.step];
  }
  std::fill(to + present * lines, to + n * lines, T(0));
}

template <class T>
void put(const T* from, const Numbers& at, Index n, T scale, T* to) {
  const Index lines = at.count;
  for (Index l = 0; l < lines; ++l) {
    T* const x = to + at.offsets[l];
    for (Index j = 0; j < n; ++j) x[j * at.step] = from[j * lines + l] * scale;
  }
}

template <class T>
void take_pairs(const T* from, const Numbers& at, Index present, Index n, Planes<T> to) {
  const Index lines = at.count;
  if (lines == 1 && at.step == 2)
    take_dense(from + at.offsets[0], 0, present, 1, to.re, to.im);
  else if (are_apart(at, 2))
    take_dense(from + at.offsets[0], at.step, lines, present, to.re, to.im);
  else {
    const Index done = take_quickly(from, at, present, to.re, to.im);
    for (Index l = 0; l < lines; ++l) {
      const T* x = from + at.offsets[l] + done * at.step;
      for (Index j = done; j < present; ++j, x += at.step)
        to.re[j * lines + l] = x[0], to.im[j * lines + l] = x[1];
    }
  }
  std::fill(to.re + present * lines, to.re + n * lines, T(0));
  std::fill(to.im + present * lines, to.im + n * lines, T(0));
}

template <class T>
void put_pairs(Planes<T> from, const Numbers& at, Index n, T scale_re, T scale_im, T* to) {
  const Index lines = at.count;
  if (lines == 1 && at.step == 2)
    put_dense(from.re, from.im, 0, n, 1, scale_re, scale_im, to + at.offsets[0]);
  else if (are_apart(at, 2))
    put_dense(from.re, from.im, at.step, lines, n, scale_re, scale_im, to + at.offsets[0]);
  else {
    const Index done = put_quickly(from.re, from.im, at, n, scale_re, scale_im, to);
    for (Index l = 0; l < lines; ++l) {
      T* x = to + at.offsets[l] + done * at.step;
      for (Index j = done; j < n; ++j, x += at.step)
        x[0] = from.re[j * lines + l] * scale_re, x[1] = from.im[j * lines + l] * scale_im;
    }
  }
}

template void take(const float*, const Numbers&, Index, Index, float*);
template void take(const double*, const Numbers&, Index, Index, double*);
template void put(const float*, const Numbers&, Index, float, float*);
template void put(const double*, const Numbers&, Index, double, double*);
template void take_pairs(const float*, const Numbers&, Index, Index, Planes<float>);
template void take_pairs(const double*, const Numbers&, Index, Index, Planes<double>);
template void put_pairs(Planes<float>, const Numbers&, Index, float, float, float*);
template void put_pairs(Planes<double>, const Numbers&, Index, double, double, double*);

}  // namespace rushlight::fft
