// Lines of a tensor into planes and back.
#include "block.h"

#include <algorithm>

#include "kernels/host_device.h"
#include "wide_block.h"

namespace rushlight::fft {
namespace {

// Whether lines are neighbours, `apart` numbers from each other.
bool are_apart(const Numbers& at, Index apart) {
  for (Index l = 1; l < at.count; ++l)
    if (at.offsets[l] - at.offsets[l - 1] != apart) return false;
  return true;
}

// Rows of pairs, `step` numbers from each other, into planes and back.
template <class T>
CLONES void take_rows(const T* __restrict from, Index step, Index width, Index n, T* __restrict re,
                      T* __restrict im) {
  for (Index j = 0; j < n; ++j, from += step, re += width, im += width)
    for (Index l = 0; l < width; ++l) re[l] = from[2 * l], im[l] = from[2 * l + 1];
}
template <class T>
CLONES void put_rows(const T* __restrict re, const T* __restrict im, Index step, Index width,
                     Index n, T scale_re, T scale_im, T* __restrict to) {
  for (Index j = 0; j < n; ++j, to += step, re += width, im += width)
    for (Index l = 0; l < width; ++l)
      to[2 * l] = re[l] * scale_re, to[2 * l + 1] = im[l] * scale_im;
}

#if defined(__x86_64__)
template <class T>
void take_dense(const T* from, Index step, Index width, Index n, T* re, T* im) {
  (prefers_wide_vectors() ? take_wide_rows<T> : take_rows<T>)(from, step, width, n, re, im);
}
template <class T>
void put_dense(const T* re, const T* im, Index step, Index width, Index n, T scale_re, T scale_im,
               T* to) {
  (prefers_wide_vectors() ? put_wide_rows<T> : put_rows<T>)(re, im, step, width, n, scale_re,
                                                            scale_im, to);
}
// Dense lines; returns how many values were moved, of each.
template <class T>
Index take_quickly(const T* from, const Numbers& at, Index count, T* re, T* im) {
  if (at.step != 2 || at.count > kLines<T> || !uses_wide_vectors()) return 0;
  const Index done = at.count == kLines<T> ? take_tiles(from, at, count, re, im) : 0;
  return take_pieces(from, at, count, re, im, done);
}
template <class T>
Index put_quickly(const T* re, const T* im, const Numbers& at, Index count, T scale_re, T scale_im,
                  T* to) {
  if (at.step != 2 || at.count > kLines<T> || !uses_wide_vectors()) return 0;
  const Index done =
      at.count == kLines<T> ? put_tiles(re, im, at, count, scale_re, scale_im, to) : 0;
  return put_pieces(re, im, at, count, scale_re, scale_im, to, done);
}
#else
template <class T>
void take_dense(const T* from, Index step, Index width, Index n, T* re, T* im) {
  take_rows(from, step, width, n, re, im);
}
template <class T>
void put_dense(const T* re, const T* im, Index step, Index width, Index n, T scale_re, T scale_im,
               T* to) {
  put_rows(re, im, step, width, n, scale_re, scale_im, to);
}
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
