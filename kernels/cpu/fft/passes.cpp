// Stockham's algorithm: a pass of radix R takes x[q + s (p + m j)] over all j < R, transforms them,
// turns the k-th by exp(-2 pi i p k / (m R)) and writes it to y[q + s (R p + k)], which sorts as it
// goes. Here s is the product of the lines and the radices before, so vectors run along q; in the
// first pass of one line they run along p.
#include "passes.h"

#include <algorithm>

#include "butterflies.h"
#include "kernels/cpu/wide_vector.h"
#include "vectors.h"

namespace rushlight::fft {
namespace {

template <class T>
struct Step {
  const T *xr, *xi;
  T *yr, *yi;
  Index m, s;
  const T* roots;  // of the k-th value, k >= 1: m real parts, then m imaginary ones
};

template <int R, class V, class T>
[[gnu::always_inline]] inline void gather(const Step<T>& step, Index at, Complex<V> (&a)[R]) {
  const Index apart = step.m * step.s;
#pragma GCC unroll 16
  for (int j = 0; j < R; ++j)
    a[j] = {load_vector<V>(step.xr + at + j * apart), load_vector<V>(step.xi + at + j * apart)};
}

// All q of one p; `turns`: p is not 0.
template <int R, class T, int n, bool turns>
[[gnu::always_inline]] inline void along_q(const Step<T>& step, Index p) {
  using V = typename VectorOf<T, n>::type;
  const Index m = step.m, s = step.s;
  T* const yr = step.yr + p * R * s;
  T* const yi = step.yi + p * R * s;
  for (Index from = 0; from < s; from += n) {
    const Index q = std::min(from, s - n);  // the last vector may overlap the one before
    Complex<V> a[R];
    gather<R>(step, q + s * p, a);
    Butterfly<R>::template run<T>(a);
    store_vector(yr + q, a[0].re);
    store_vector(yi + q, a[0].im);
#pragma GCC unroll 16
    for (int k = 1; k < R; ++k) {
      V re = a[k].re, im = a[k].im;
      if constexpr (turns) {
        const T c = step.roots[2 * (k - 1) * m + p], d = step.roots[(2 * k - 1) * m + p];
        re = a[k].re * c - a[k].im * d;
        im = a[k].re * d + a[k].im * c;
      }
      store_vector(yr + q + k * s, re);
      store_vector(yi + q + k * s, im);
    }
  }
}
template <int R, class T, int n>
[[gnu::always_inline]] inline void along_lines(const Step<T>& step) {
  constexpr bool skips = R < 7;  // the turn by 1; of a large radix the code would be too much
  if constexpr (skips) along_q<R, T, n, false>(step, 0);
  for (Index p = skips; p < step.m; ++p) along_q<R, T, n, true>(step, p);
}

// Of one line, where s is 1.
template <int R, class T, int n, bool wide>
[[gnu::always_inline]] inline void along_values(const Step<T>& step) {
  using V = typename VectorOf<T, n>::type;
  const Index m = step.m;
  for (Index from = 0; from < m; from += n) {
    const Index p = std::min(from, m - n);
    Complex<V> a[R];
    gather<R>(step, p, a);
    Butterfly<R>::template run<T>(a);
#pragma GCC unroll 16
    for (int k = 1; k < R; ++k) {
      const V c = load_vector<V>(step.roots + 2 * (k - 1) * m + p),
              d = load_vector<V>(step.roots + (2 * k - 1) * m + p);
      a[k] = {a[k].re * c - a[k].im * d, a[k].re * d + a[k].im * c};
    }
    T *yr = step.yr + p * R, *yi = step.yi + p * R;
    if constexpr (wide && (R & (R - 1)) == 0) {
      V re[R], im[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; ++k) re[k] = a[k].re, im[k] = a[k].im;
      by_columns<R, n>(re);
      by_columns<R, n>(im);
#pragma GCC unroll 16
      for (int k = 0; k < R; ++k) {
        store_vector(yr + k * n, re[k]);
        store_vector(yi + k * n, im[k]);
      }
    } else {
      T sorted[2][R][n];
#pragma GCC unroll 16
      for (int k = 0; k < R; ++k) {
        store_vector(sorted[0][k], a[k].re);
        store_vector(sorted[1][k], a[k].im);
      }
      for (int i = 0; i < n; ++i)
#pragma GCC unroll 16
        for (int k = 0; k < R; ++k) {
          yr[i * R + k] = sorted[0][k][i];
          yi[i * R + k] = sorted[1][k][i];
        }
    }
  }
}

template <int R, class T, int n, bool wide>
[[gnu::always_inline]] inline void run_pass(const Step<T>& step) {
  if (step.s == 1 && step.m >= n) return along_values<R, T, n, wide>(step);
  if (step.s >= n) return along_lines<R, T, n>(step);
  if constexpr (R < 11) {  // rare
    if (step.s >= n / 2) return along_lines<R, T, n / 2>(step);
    if constexpr (n > 4)
      if (step.s >= n / 4) return along_lines<R, T, n / 4>(step);
  }
  along_lines<R, T, 1>(step);
}

template <class T, int n, bool wide>
[[gnu::always_inline]] inline void run_pass(int radix, const Step<T>& step) {
  switch (radix) {
    case 2: return run_pass<2, T, n, wide>(step);
    case 3: return run_pass<3, T, n, wide>(step);
    case 4: return run_pass<4, T, n, wide>(step);
    case 5: return run_pass<5, T, n, wide>(step);
    case 7: return run_pass<7, T, n, wide>(step);
    case 8: return run_pass<8, T, n, wide>(step);
    case 11: return run_pass<11, T, n, wide>(step);
    default: return run_pass<13, T, n, wide>(step);
  }
}

template <class T>
CLONES void narrow_pass(int radix, const Step<T>& step) {
  run_pass<T, int(32 / sizeof(T)), false>(radix, step);
}
#if defined(__x86_64__)
template <class T>
[[gnu::target("arch=x86-64-v4")]] void wide_pass(int radix, const Step<T>& step) {
  run_pass<T, int(64 / sizeof(T)), true>(radix, step);
}
template <class T>
auto pass_of() {
  return uses_wide_vectors() ? wide_pass<T> : narrow_pass<T>;
}
#else
template <class T>
auto pass_of() {
  return narrow_pass<T>;
}
#endif

}  // namespace

template <class T>
Planes<T> run_passes(const Plan<T>& plan, Index lines, Planes<T> x, Planes<T> other) {
  Index s = lines;
  const auto pass = pass_of<T>();
  for (const Pass& p : plan.passes) {
    pass(p.radix, {x.re, x.im, other.re, other.im, p.m, s, plan.roots.data() + p.roots});
    s *= p.radix;
    std::swap(x, other);
  }
  return x;
}
template Planes<float> run_passes(const Plan<float>&, Index, Planes<float>, Planes<float>);
template Planes<double> run_passes(const Plan<double>&, Index, Planes<double>, Planes<double>);

}  // namespace rushlight::fft
