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

// Dense lines of pairs, kLines<T> of them, in tiles of as many values. Returns how many values that
// were, of each line.
#if defined(__x86_64__)
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index take_tiles(const T* from, const Index* offsets, Index count,
                                                   T* re, T* im) {
  constexpr int n = int(kLines<T>);
  using V = typename VectorOf<T, n>::type;
  constexpr auto lanes = std::make_integer_sequence<int, n>();
  Index j = 0;
  for (; j + n <= count; j += n) {
    V parts[2][n];
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) {
      const T* const x = from + offsets[l] + 2 * j;
      parts[0][l] = load_vector<V>(x), parts[1][l] = load_vector<V>(x + n);
      unzip(parts[0][l], parts[1][l], lanes);
    }
    by_columns<n, n>(parts[0]);
    by_columns<n, n>(parts[1]);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      store_vector(re + (j + i) * n, parts[0][i]);
      store_vector(im + (j + i) * n, parts[1][i]);
    }
  }
  return j;
}
template <class T>
[[gnu::target("arch=x86-64-v4")]] Index put_tiles(const T* re, const T* im, const Index* offsets,
                                                  Index count, T scale_re, T scale_im, T* to) {
  constexpr int n = int(kLines<T>);
  using V = typename VectorOf<T, n>::type;
  constexpr auto lanes = std::make_integer_sequence<int, n>();
  Index j = 0;
  for (; j + n <= count; j += n) {
    V parts[2][n];
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      parts[0][i] = load_vector<V>(re + (j + i) * n) * scale_re;
      parts[1][i] = load_vector<V>(im + (j + i) * n) * scale_im;
    }
    by_columns<n, n>(parts[0]);
    by_columns<n, n>(parts[1]);
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) {
      T* const x = to + offsets[l] + 2 * j;
      zip(parts[0][l], parts[1][l], lanes);
      store_vector(x, parts[0][l]);
      store_vector(x + n, parts[1][l]);
    }
  }
  return j;
}
template <class T>
bool takes_tiles(const Numbers& at) {
  return at.count == kLines<T> && at.step == 2 && prefers_wide_vectors();
}
#else
template <class T>
Index take_tiles(const T*, const Index*, Index, T*, T*) {
  return 0;
}
template <class T>
Index put_tiles(const T*, const T*, const Index*, Index, T, T, T*) {
  return 0;
}
template <class T>
bool takes_tiles(const Numbers&) {
  return false;
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
    const Index done = takes_tiles<T>(at) ? take_tiles(from, at.offsets, present, to.re, to.im) : 0;
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
    const Index done =
        takes_tiles<T>(at) ? put_tiles(from.re, from.im, at.offsets, n, scale_re, scale_im, to) : 0;
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
