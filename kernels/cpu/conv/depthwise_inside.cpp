// Depthwise convolution of images whose channels lie innermost, (n, height, width, c): each tap of
// a pixel is a row of channels, so the loops run along them. Weights are transposed to [tap][c]
// first.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kParts = 16;  // of the images, whose weight gradients are summed apart

template <class T>
struct Lanes {
  using type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias)) = T;
};

// y = y + sum of x[t] * w[t], of `vectors` vectors, which stay in registers
template <int vectors, class T>
[[gnu::always_inline]] inline void add_block(const T* x, Index first, const Index* at,
                                             const Index* tap, Index count, Index c, const T* w,
                                             T* y) {
  using V = typename Lanes<T>::type;
  constexpr Index kWidth = 32 / Index(sizeof(T));
  V sums[vectors];
  for (int v = 0; v < vectors; ++v) sums[v] = *reinterpret_cast<const V*>(y + v * kWidth);
  for (Index t = 0; t < count; ++t) {
    const T *row = x + (first + at[t]), *weights = w + tap[t] * c;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      sums[v] += *reinterpret_cast<const V*>(row + v * kWidth) *
                 *reinterpret_cast<const V*>(weights + v * kWidth);
  }
  for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(y + v * kWidth) = sums[v];
}

// y += sum of x[t] * w[t], rows of c; `at` are offsets of the taps
template <class T>
CLONES void add_taps(const T* x, Index first, const Index* at, const Index* tap, Index count,
                     Index c, const T* w, T* y) {
  constexpr Index kWidth = 32 / Index(sizeof(T));
  Index i = 0;
  for (; i + 8 * kWidth <= c; i += 8 * kWidth)
    add_block<8>(x, first + i, at, tap, count, c, w + i, y + i);
  for (; i + kWidth <= c; i += kWidth) add_block<1>(x, first + i, at, tap, count, c, w + i, y + i);
  for (; i < c; ++i)
    for (Index t = 0; t < count; ++t) y[i] += x[first + at[t] + i] * w[tap[t] * c + i];
}
// x[t] += g * w[t]
template <class T>
CLONES void spread_taps(const T* __restrict g, Index first, const Index* at, const Index* tap,
                        Index count, Index c, const T* __restrict w, T* __restrict x) {
  for (Index t = 0; t < count; ++t)
    for (Index i = 0; i < c; ++i) x[first + at[t] + i] += g[i] * w[tap[t] * c + i];
}
// w[t] += g * x[t]
template <class T>
CLONES void add_weights(const T* __restrict g, const T* __restrict x, Index first, const Index* at,
                        const Index* tap, Index count, Index c, T* __restrict w) {
  for (Index t = 0; t < count; ++t)
    for (Index i = 0; i < c; ++i) w[tap[t] * c + i] += g[i] * x[first + at[t] + i];
}

template <class T>
std::vector<T> with_channels_last(const ConvShape& s, const T* w) {
  const Index taps = s.kernel[1] * s.kernel[2];
  std::vector<T> to(std::size_t(taps * s.c));
  for (Index c = 0; c < s.c; ++c)
    for (Index t = 0; t < taps; ++t) to[std::size_t(t * s.c + c)] = w[c * taps + t];
  return to;
}

// The taps of an axis that hit the image, for a window that begins at `first`: [first, last).
std::pair<Index, Index> inside(const ConvShape& s, int axis, Index first) {
  const Index step = s.dilation[axis], in = s.in[axis];
  const Index begin = first < 0 ? (-first + step - 1) / step : 0;
  const Index end = first < in ? std::min(s.kernel[axis], (in - 1 - first) / step + 1) : 0;
  return {std::min(begin, end), end};
}

// Calls f(pixel, first, offsets of its taps from there, taps, how many) for a row of results.
template <class F>
void each_pixel(const ConvShape& s, Index h, F f) {
  std::vector<Index> at(std::size_t(s.kernel[1] * s.kernel[2])), tap = at;
  const Index y = h * s.stride[1] - s.padding[1];
  const auto [i0, i1] = inside(s, 1, y);
  std::pair<Index, Index> before{-1, -1};
  Index count = 0;
  for (Index w = 0; w < s.result[2]; ++w) {
    const Index x = w * s.stride[2] - s.padding[2];
    const std::pair<Index, Index> columns = inside(s, 2, x);
    if (columns != before) {  // most pixels have the same
      before = columns;
      count = 0;
      for (Index i = i0; i < i1; ++i)
        for (Index j = columns.first; j < columns.second; ++j) {
          at[std::size_t(count)] = (i * s.dilation[1] * s.in[2] + j * s.dilation[2]) * s.c;
          tap[std::size_t(count++)] = i * s.kernel[2] + j;
        }
    }
    f(h * s.result[2] + w, (y * s.in[2] + x) * s.c, at.data(), tap.data(), count);
  }
}
Index work(const ConvShape& s) {  // of a row of results
  return std::max<Index>(s.result[2] * s.c * s.kernel[1] * s.kernel[2], 1);
}

}  // namespace

template <class T>
void depthwise_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const std::vector<T> weights = with_channels_last(s, w);
  const Index in = s.in[1] * s.in[2] * s.c, out = s.result[1] * s.result[2] * s.c;
  parallel_for(s.n * s.result[1], 1 + 100'000 / work(s), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Index n = r / s.result[1];
      each_pixel(s, r % s.result[1],
                 [&](Index pixel, Index first, const Index* at, const Index* tap, Index count) {
                   T* const to = y + n * out + pixel * s.c;
                   for (Index i = 0; i < s.c; ++i) to[i] = bias ? bias[i] : T(0);
                   add_taps(x + n * in, first, at, tap, count, s.c, weights.data(), to);
                 });
    }
  });
}

template <class T>
void depthwise_grad_input(const ConvShape& s, const T* grad, const T* w, const T* bias, T* grad_x) {
  const std::vector<T> weights = with_channels_last(s, w);
  const Index in = s.in[1] * s.in[2] * s.c, out = s.result[1] * s.result[2] * s.c;
  parallel_for(s.n, 1, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      T* const image = grad_x + n * in;
      for (Index p = 0; p < in; p += s.c)
        for (Index i = 0; i < s.c; ++i) image[p + i] = bias ? bias[i] : T(0);
      for (Index h = 0; h < s.result[1]; ++h)
        each_pixel(s, h,
                   [&](Index pixel, Index first, const Index* at, const Index* tap, Index count) {
                     spread_taps(grad + n * out + pixel * s.c, first, at, tap, count, s.c,
                                 weights.data(), image);
                   });
      check_interrupt();
    }
  });
}

template <class T>
void depthwise_grad_weight(const ConvShape& s, const T* x, const T* grad, T* grad_w) {
  const Index taps = s.kernel[1] * s.kernel[2], parts = std::min(s.n, kParts);
  const Index in = s.in[1] * s.in[2] * s.c, out = s.result[1] * s.result[2] * s.c;
  std::vector<double> sums(std::size_t(parts * taps * s.c));
  parallel_for(parts, 1, [&](Index begin, Index end) {
    std::vector<T> row(std::size_t(taps * s.c));
    for (Index part = begin; part < end; ++part)
      for (Index n = s.n * part / parts; n < s.n * (part + 1) / parts; ++n) {
        for (Index h = 0; h < s.result[1]; ++h) {
          std::fill(row.begin(), row.end(), T(0));
          each_pixel(s, h,
                     [&](Index pixel, Index first, const Index* at, const Index* tap, Index count) {
                       add_weights(grad + n * out + pixel * s.c, x + n * in, first, at, tap, count,
                                   s.c, row.data());
                     });
          double* const to = sums.data() + part * taps * s.c;
          for (std::size_t i = 0; i < row.size(); ++i) to[i] += double(row[i]);
        }
        check_interrupt();
      }
  });
  for (Index c = 0; c < s.c; ++c)
    for (Index t = 0; t < taps; ++t) {
      double sum = 0;
      for (Index part = 0; part < parts; ++part)
        sum += sums[std::size_t((part * taps + t) * s.c + c)];
      grad_w[c * taps + t] = T(sum);
    }
}

template void depthwise_forward(const ConvShape&, const float*, const float*, const float*, float*);
template void depthwise_forward(const ConvShape&, const double*, const double*, const double*,
                                double*);
template void depthwise_grad_input(const ConvShape&, const float*, const float*, const float*,
                                   float*);
template void depthwise_grad_input(const ConvShape&, const double*, const double*, const double*,
                                   double*);
template void depthwise_grad_weight(const ConvShape&, const float*, const float*, float*);
template void depthwise_grad_weight(const ConvShape&, const double*, const double*, double*);

}  // namespace rushlight::conv
