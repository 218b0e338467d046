// Transforms of 2 to 13 values, each a vector of neighbours or one number, in place: a[k] := the
// sum of a[j] exp(-2 pi i j k / R). They are inlined into loops of several instruction sets.
#pragma once
#include "../../host_device.h"

namespace rushlight::fft {

template <class V>
struct Complex {
  V re, im;
};
template <class V>
[[gnu::always_inline]] inline void add_and_subtract(Complex<V>& a, Complex<V>& b) {
  const V re = a.re - b.re, im = a.im - b.im;
  a.re += b.re, a.im += b.im;
  b.re = re, b.im = im;
}
template <class V>
[[gnu::always_inline]] inline Complex<V> by_minus_i(const Complex<V>& a) {
  return {a.im, -a.re};
}

// Cosines and sines of 2 pi k / R for k = 1 .. R / 2.
template <int R>
struct Circle;
template <>
struct Circle<3> {
  static constexpr double c[] = {-0.5};
  static constexpr double s[] = {0.866025403784438646763};
};
template <>
struct Circle<5> {
  static constexpr double c[] = {0.309016994374947424102, -0.80901699437494742410};
  static constexpr double s[] = {0.951056516295153572116, 0.587785252292473129168};
};
template <>
struct Circle<7> {
  static constexpr double c[] = {0.623489801858733530525, -0.22252093395631440428,
                                 -0.90096886790241912623};
  static constexpr double s[] = {0.781831482468029808708, 0.974927912181823607018,
                                 0.433883739117558120475};
};
template <>
struct Circle<11> {
  static constexpr double c[] = {0.841253532831181168861, 0.415415013001886425529,
                                 -0.14231483827328514044, -0.65486073394528506405,
                                 -0.95949297361449738989};
  static constexpr double s[] = {0.540640817455597582107, 0.909631995354518371411,
                                 0.989821441880932732376, 0.755749574354258283774,
                                 0.281732556841429697711};
};
template <>
struct Circle<13> {
  static constexpr double c[] = {0.885456025653209895900, 0.568064746731155802511,
                                 0.120536680255323053349, -0.35460488704253562596,
                                 -0.74851074817110109863, -0.97094181742605202715};
  static constexpr double s[] = {0.464723172043768545656, 0.822983865893656394579,
                                 0.992708874098053992800, 0.935016242685414823439,
                                 0.663122658240795202376, 0.239315664287557767148};
};

// An odd number of values: the cosines see sums of two opposite values, the sines differences.
template <int R>
struct Butterfly {
  template <class T, class V>
  [[gnu::always_inline]] static inline void run(Complex<V> (&a)[R]) {
    constexpr int h = R / 2;
    Complex<V> even[h], odd[h];
#pragma GCC unroll 8
    for (int j = 0; j < h; ++j) {
      even[j] = {a[j + 1].re + a[R - 1 - j].re, a[j + 1].im + a[R - 1 - j].im};
      odd[j] = {a[j + 1].re - a[R - 1 - j].re, a[j + 1].im - a[R - 1 - j].im};
    }
    const Complex<V> first = a[0];
#pragma GCC unroll 8
    for (int j = 0; j < h; ++j) a[0].re += even[j].re, a[0].im += even[j].im;
#pragma GCC unroll 8
    for (int k = 1; k <= h; ++k) {
      Complex<V> sum = first, turned = {V{}, V{}};
#pragma GCC unroll 8
      for (int j = 1; j <= h; ++j) {
        const int at = j * k % R, i = (at <= h ? at : R - at) - 1;
        const T c = T(Circle<R>::c[i]), s = at <= h ? T(Circle<R>::s[i]) : -T(Circle<R>::s[i]);
        sum.re += even[j - 1].re * c, sum.im += even[j - 1].im * c;
        turned.re += odd[j - 1].im * s, turned.im -= odd[j - 1].re * s;
      }
      a[k] = {sum.re + turned.re, sum.im + turned.im};
      a[R - k] = {sum.re - turned.re, sum.im - turned.im};
    }
  }
};

template <>
struct Butterfly<2> {
  template <class T, class V>
  [[gnu::always_inline]] static inline void run(Complex<V> (&a)[2]) {
    add_and_subtract(a[0], a[1]);
  }
};

template <class V>
[[gnu::always_inline]] inline void four(Complex<V>& a, Complex<V>& b, Complex<V>& c,
                                        Complex<V>& d) {
  add_and_subtract(a, c);
  add_and_subtract(b, d);
  d = by_minus_i(d);
  add_and_subtract(a, b);
  add_and_subtract(c, d);
  // in the order a c b d
  const Complex<V> second = c;
  c = b, b = second;
}
template <>
struct Butterfly<4> {
  template <class T, class V>
  [[gnu::always_inline]] static inline void run(Complex<V> (&a)[4]) {
    four(a[0], a[1], a[2], a[3]);
  }
};

template <>
struct Butterfly<8> {
  template <class T, class V>
  [[gnu::always_inline]] static inline void run(Complex<V> (&a)[8]) {
    constexpr T half = T(0.70710678118654752440);
    four(a[0], a[2], a[4], a[6]);
    four(a[1], a[3], a[5], a[7]);
    a[3] = {(a[3].re + a[3].im) * half, (a[3].im - a[3].re) * half};
    a[5] = by_minus_i(a[5]);
    a[7] = {(a[7].im - a[7].re) * half, (a[7].re + a[7].im) * -half};
    add_and_subtract(a[0], a[1]);
    add_and_subtract(a[2], a[3]);
    add_and_subtract(a[4], a[5]);
    add_and_subtract(a[6], a[7]);
    const Complex<V> b1 = a[2], b2 = a[4], b3 = a[6], b4 = a[1], b5 = a[3], b6 = a[5];
    a[1] = b1, a[2] = b2, a[3] = b3, a[4] = b4, a[5] = b5, a[6] = b6;
  }
};

}  // namespace rushlight::fft
