// Between the spectrum of n real numbers, n even, and that of the n / 2 complex numbers which they
// are in pairs.
#pragma once
#include "passes.h"

namespace rushlight::fft {

// out[k], k <= h: the spectrum of the real numbers, of that of the pairs, h values; roots as
// half_circle(2 h). Values between the first and the last are multiplied by `middle`.
template <class T>
void spectrum_of_pairs(Planes<T> pairs, Index h, Index lines, const T* roots, T middle,
                       Planes<T> out);
// out[k], k < h: of the spectrum of real numbers, h + 1 values, the spectrum of the pairs, whose
// inverse transform they are; the imaginary parts of the first and last value count as 0.
template <class T>
void pairs_of_spectrum(Planes<T> spectrum, Index h, Index lines, const T* roots, T middle,
                       Planes<T> out);

}  // namespace rushlight::fft
