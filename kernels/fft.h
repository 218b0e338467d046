// Discrete Fourier transforms along one dimension, of float32, float64 and the complex numbers made
// of them. A result is `scale` times the sum of x[j] exp(+-2 pi i j k / n): minus, unless
// `inverse`.
#pragma once
#include "view.h"

namespace rushlight {

struct FftShape {
  std::int64_t n;  // the length of the transform: that of its complex or real result
  int dim;
  bool inverse;
  double scale;
  // Of half a spectrum, the values that stand for two: counted twice by to_half(), half by
  // from_half(). So each is the gradient of the other.
  bool weighted;
};

struct FftKernels {
  // out[.., n, ..] complex, of complex or real numbers. What in lacks of n along dim counts as 0.
  // Complex numbers may be transformed in place.
  void (*complex)(const FftShape& s, const View& out, const View& in);
  // out[.., n / 2 + 1, ..], the first half of the spectrum of real numbers; in as above.
  void (*to_half)(const FftShape& s, const View& out, const View& in);
  // out[.., n, ..] real, of the first half of their spectrum; in as above.
  void (*from_half)(const FftShape& s, const View& out, const View& in);
};
extern const FftKernels cpu_fft;

}  // namespace rushlight
