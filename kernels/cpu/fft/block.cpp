// Lines of a tensor into planes and back.
#include "block.h"

#include <algorithm>

#include "kernels/host_device.h"

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
  else
    for (Index l = 0; l < lines; ++l) {
      const T* x = from + at.offsets[l];
      for (Index j = 0; j < present; ++j, x += at.step)
        to.re[j * lines + l] = x[0], to.im[j * lines + l] = x[1];
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
  else
    for (Index l = 0; l < lines; ++l) {
      T* x = to + at.offsets[l];
      for (Index j = 0; j < n; ++j, x += at.step)
        x[0] = from.re[j * lines + l] * scale_re, x[1] = from.im[j * lines + l] * scale_im;
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
