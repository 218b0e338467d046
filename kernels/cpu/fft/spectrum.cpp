// Value k of the pairs' spectrum and its mirror h - k hold two values of the real spectrum: of the
// even numbers, the part that is its own mirror, and of the odd ones, turned by a root.
#include "spectrum.h"

#include "kernels/host_device.h"

namespace rushlight::fft {
namespace {

// y := (a + conj b - i w (a - conj b)) f for each of n lines, w = c + i d.
template <class T>
CLONES void join_lines(const T* __restrict ar, const T* __restrict ai, const T* __restrict br,
                       const T* __restrict bi, T c, T d, T f, Index n, T* __restrict yr,
                       T* __restrict yi) {
  for (Index l = 0; l < n; ++l) {
    const T er = ar[l] + br[l], ei = ai[l] - bi[l], dr = ar[l] - br[l], di = ai[l] + bi[l];
    yr[l] = (er + c * di + d * dr) * f;
    yi[l] = (ei - c * dr + d * di) * f;
  }
}
// The same for values 0 .. n of one line, b from its last value backwards.
template <class T>
CLONES void join_values(const T* __restrict ar, const T* __restrict ai, const T* __restrict br,
                        const T* __restrict bi, const T* __restrict c, const T* __restrict d,
                        T sign, T f, Index n, T* __restrict yr, T* __restrict yi) {
  for (Index k = 0; k < n; ++k) {
    const T er = ar[k] + br[-k], ei = ai[k] - bi[-k], dr = ar[k] - br[-k], di = ai[k] + bi[-k];
    yr[k] = (er + sign * c[k] * di + d[k] * dr) * f;
    yi[k] = (ei - sign * c[k] * dr + d[k] * di) * f;
  }
}

// Values 1 .. h; `sign` is 1, or -1 for the way back, where w is minus its conjugate.
template <class T>
void join(Planes<T> x, Index h, Index lines, const T* roots, T sign, T f, Planes<T> out) {
  const T *c = roots, *d = roots + h + 1;
  const Index last = (h - 1) * lines;
  if (lines == 1)
    return join_values(x.re + 1, x.im + 1, x.re + last, x.im + last, c + 1, d + 1, sign, f, h - 1,
                       out.re + 1, out.im + 1);
  for (Index k = 1; k < h; ++k) {
    const Index at = k * lines, mirror = (h - k) * lines;
    join_lines(x.re + at, x.im + at, x.re + mirror, x.im + mirror, sign * c[k], d[k], f, lines,
               out.re + at, out.im + at);
  }
}

}  // namespace

template <class T>
void spectrum_of_pairs(Planes<T> x, Index h, Index lines, const T* roots, T middle, Planes<T> out) {
  for (Index l = 0, end = h * lines; l < lines; ++l) {
    const T a = x.re[l], b = x.im[l];
    out.re[l] = a + b, out.re[end + l] = a - b;
    out.im[l] = out.im[end + l] = 0;
  }
  join(x, h, lines, roots, T(1), middle / 2, out);
}

template <class T>
void pairs_of_spectrum(Planes<T> x, Index h, Index lines, const T* roots, T middle, Planes<T> out) {
  for (Index l = 0, end = h * lines; l < lines; ++l) {
    const T a = x.re[l], b = x.re[end + l];
    out.re[l] = a + b, out.im[l] = a - b;
  }
  join(x, h, lines, roots, T(-1), middle, out);
}

template void spectrum_of_pairs(Planes<float>, Index, Index, const float*, float, Planes<float>);
template void spectrum_of_pairs(Planes<double>, Index, Index, const double*, double,
                                Planes<double>);
template void pairs_of_spectrum(Planes<float>, Index, Index, const float*, float, Planes<float>);
template void pairs_of_spectrum(Planes<double>, Index, Index, const double*, double,
                                Planes<double>);

}  // namespace rushlight::fft
