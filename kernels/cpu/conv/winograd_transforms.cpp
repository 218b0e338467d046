// The sums and differences around the products, compiled for two instruction sets.
#include "kernels/cpu/linalg/register_tile.h"
#include "winograd.h"

namespace rushlight::conv {
namespace {

template <int W>
struct VectorOf {
  using type __attribute__((vector_size(W * sizeof(float)))) = float;
  using anywhere __attribute__((vector_size(W * sizeof(float)), aligned(4), may_alias)) = float;
};
template <int W>
[[gnu::always_inline]] inline typename VectorOf<W>::anywhere& at(float* p) {
  return *reinterpret_cast<typename VectorOf<W>::anywhere*>(p);
}
template <int W>
[[gnu::always_inline]] inline const typename VectorOf<W>::anywhere& at(const float* p) {
  return *reinterpret_cast<const typename VectorOf<W>::anywhere*>(p);
}

// One dimension of each transform, on four elements that lie `step` apart.
struct Input {
  template <class V>
  [[gnu::always_inline]] static void apply(const V (&d)[4], V (&t)[4]) {
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[1] - d[3];
  }
};
struct Weights {
  template <class V>
  [[gnu::always_inline]] static void apply(const V (&g)[3], V (&t)[4]) {
    const V sum = (g[0] + g[2]) * 0.5f, half = g[1] * 0.5f;
    t[0] = g[0];
    t[1] = sum + half;
    t[2] = sum - half;
    t[3] = g[2];
  }
};
struct Output {
  template <class V>
  [[gnu::always_inline]] static void apply(const V (&m)[4], V (&y)[2]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  }
};
struct GradOutput {
  template <class V>
  [[gnu::always_inline]] static void apply(const V (&y)[2], V (&m)[4]) {
    m[0] = y[0];
    m[1] = y[0] + y[1];
    m[2] = y[0] - y[1];
    m[3] = -y[1];
  }
};
struct GradWeights {
  template <class V>
  [[gnu::always_inline]] static void apply(const V (&t)[4], V (&g)[3]) {
    const V sum = (t[1] + t[2]) * 0.5f;
    g[0] = t[0] + sum;
    g[1] = (t[1] - t[2]) * 0.5f;
    g[2] = sum + t[3];
  }
};

// Of a matrix: its columns, then its rows.
template <class Transform, class V, int from, int to>
[[gnu::always_inline]] inline void both(const V (&d)[from][from], V (&t)[to][to]) {
  V down[from][to];  // [column][row]
#pragma GCC unroll 4
  for (int j = 0; j < from; ++j) {
    V column[from];
#pragma GCC unroll 4
    for (int i = 0; i < from; ++i) column[i] = d[i][j];
    Transform::apply(column, down[j]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < to; ++i) {
    V row[from];
#pragma GCC unroll 4
    for (int j = 0; j < from; ++j) row[j] = down[j][i];
    Transform::apply(row, t[i]);
  }
}

// What lies `step` apart is read and written as a matrix; of taps, as rows of n.
template <int W, int n, class V>
[[gnu::always_inline]] inline void load(const float* from, Index step, V (&d)[n][n]) {
#pragma GCC unroll 16
  for (int i = 0; i < n * n; ++i) d[i / n][i % n] = at<W>(from + i * step);
}
template <int W, int n, class V>
[[gnu::always_inline]] inline void load(const float* const* rows, Index offset, Index pixel,
                                        V (&d)[n][n]) {
#pragma GCC unroll 16
  for (int i = 0; i < n * n; ++i) d[i / n][i % n] = at<W>(rows[i / n] + i % n * pixel + offset);
}
template <int W, int n, class V>
[[gnu::always_inline]] inline void store(const V (&t)[n][n], float* to, Index step) {
#pragma GCC unroll 16
  for (int i = 0; i < n * n; ++i) at<W>(to + i * step) = t[i / n][i % n];
}

template <int W>
struct Of {
  using V = typename VectorOf<W>::type;

  [[gnu::always_inline]] static void input(const float* const* rows, Index pixel, Index panels,
                                           float* to, Index panel, Index frequency) {
    for (Index p = 0; p < panels; ++p, to += panel)
      for (Index c = 0; c < kPanel; c += W) {
        V d[4][4], t[4][4];
        load<W>(rows, p * kPanel + c, pixel, d);
        both<Input>(d, t);
        store<W>(t, to + c, frequency);
      }
  }
  [[gnu::always_inline]] static void weights(const float* taps, Index tap, Index step, Index n,
                                             float* to, Index frequency) {
    for (Index i = 0; i < n; ++i, taps += step, to += kPanel)
      for (Index c = 0; c < kPanel; c += W) {
        V d[3][3], t[4][4];
        load<W>(taps + c, tap, d);
        both<Weights>(d, t);
        store<W>(t, to + c, frequency);
      }
  }
  [[gnu::always_inline]] static void output(const float* sums, Index frequency, const float* bias,
                                            Index panels, float* const* rows, Index pixel,
                                            float* check) {
    for (Index c = 0; c < panels * kPanel; c += W) {
      V d[4][4], t[2][2];
      load<W>(sums + c, frequency, d);
      both<Output>(d, t);
      const V shift = at<W>(bias + c);
      V seen = at<W>(check + c % kPanel);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const V v = t[i / 2][i % 2] + shift;
        seen += v * 0.f;
        at<W>(rows[i / 2] + i % 2 * pixel + c) = v;
      }
      at<W>(check + c % kPanel) = seen;
    }
  }
  [[gnu::always_inline]] static void grad_output(const float* const* rows, Index pixel,
                                                 Index panels, float* to, Index frequency) {
    for (Index c = 0; c < panels * kPanel; c += W) {
      V d[2][2], t[4][4];
      load<W>(rows, c, pixel, d);
      both<GradOutput>(d, t);
      store<W>(t, to + c, frequency);
    }
  }
  [[gnu::always_inline]] static void grad_weights(const float* sums, Index frequency, Index panels,
                                                  float* taps, Index tap) {
    for (Index c = 0; c < panels * kPanel; c += W) {
      V d[4][4], t[3][3];
      load<W>(sums + c, frequency, d);
      both<GradWeights>(d, t);
      store<W>(t, taps + c, tap);
    }
  }
};

#if defined(__x86_64__)
// The same function for each instruction set.
template <auto f>
struct For;
template <class... A, void (*f)(A...)>
struct For<f> {
  [[gnu::target("arch=x86-64-v4")]] static void v4(A... a) { f(a...); }
  [[gnu::target("arch=x86-64-v3")]] static void v3(A... a) { f(a...); }
};
#endif

WinogradTransforms choose() {
#if defined(__x86_64__)
  if (tiles().width == 16) {
    using T = Of<16>;
    return {For<T::input>::v4, For<T::weights>::v4, For<T::output>::v4, For<T::grad_output>::v4,
            For<T::grad_weights>::v4};
  }
  if (tiles().width == 8) {
    using T = Of<8>;
    return {For<T::input>::v3, For<T::weights>::v3, For<T::output>::v3, For<T::grad_output>::v3,
            For<T::grad_weights>::v3};
  }
#endif
  return {};
}

}  // namespace

const WinogradTransforms& winograd_transforms() {
  static const WinogradTransforms chosen = choose();
  return chosen;
}

}  // namespace rushlight::conv
