// Depthwise convolution of images whose channels lie innermost, (n, height, width, c): each tap of
// a pixel is a row of channels, so the loops run along them, with the sums of some pixels, or of
// some taps of the weight's gradient, in registers. Weights are transposed to [tap][c] first;
// 16-bit floats are widened a band of rows at a time.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/wide_vector.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kParts = 16;        // of the images, whose weight gradients are summed apart
constexpr Index kBandElements = 1 << 16;  // of the results

struct Taps {  // where they are from a window's first pixel, and which
  const Index *at, *tap;
  Index count;
};

// y = bias + sum of x[t] * w[t], of so many pixels, `step` apart, and vectors of channels.
template <int pixels, int vectors, class T>
[[gnu::always_inline]] inline void window_block(const T* x, Index step, const Taps& taps, Index c,
                                                const T* w, const T* bias, T* y) {
  using V = typename Lanes<T>::type;
  constexpr Index width = kLanes<T>;
  V sums[pixels][vectors];
  for (int p = 0; p < pixels; ++p)
    for (int v = 0; v < vectors; ++v) sums[p][v] = *reinterpret_cast<const V*>(bias + v * width);
  for (Index t = 0; t < taps.count; ++t) {
    const T *row = x + taps.at[t], *weights = w + taps.tap[t] * c;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const V weight = *reinterpret_cast<const V*>(weights + v * width);
#pragma GCC unroll 4
      for (int p = 0; p < pixels; ++p)
        sums[p][v] += *reinterpret_cast<const V*>(row + p * step + v * width) * weight;
    }
  }
  for (int p = 0; p < pixels; ++p)
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(y + p * c + v * width) = sums[p][v];
}
template <int pixels, class T>
[[gnu::always_inline]] inline void windows(const T* x, Index step, const Taps& taps, Index c,
                                           const T* w, const T* bias, T* y) {
  constexpr Index width = kLanes<T>;
  Index i = 0;
  if constexpr (pixels == 1)  // each sum waits for its last step: as many as there are registers
    for (; i + 8 * width <= c; i += 8 * width)
      window_block<1, 8>(x + i, step, taps, c, w + i, bias + i, y + i);
  for (; i + 2 * width <= c; i += 2 * width)
    window_block<pixels, 2>(x + i, step, taps, c, w + i, bias + i, y + i);
  for (; i + width <= c; i += width)
    window_block<pixels, 1>(x + i, step, taps, c, w + i, bias + i, y + i);
  for (; i < c; ++i)
    for (int p = 0; p < pixels; ++p) {
      T sum = bias[i];
      for (Index t = 0; t < taps.count; ++t)
        sum += x[p * step + taps.at[t] + i] * w[taps.tap[t] * c + i];
      y[p * c + i] = sum;
    }
}
template <class T>
CLONES void set_windows(const T* x, Index step, Index pixels, const Taps& taps, Index c, const T* w,
                        const T* bias, T* y) {
  Index p = 0;
  for (; p + 4 <= pixels; p += 4) windows<4>(x + p * step, step, taps, c, w, bias, y + p * c);
  for (; p < pixels; ++p) windows<1>(x + p * step, step, taps, c, w, bias, y + p * c);
}

// The same of pixels side by side whose taps lie in rows of K: what is read of a row serves all of
// its taps. Of two vectors, so that there are sums that need not wait.
constexpr int kSideBySide = 4;
template <int K, int vectors, class V, class T>
[[gnu::always_inline]] inline void row_block(const T* x, const Taps& taps, Index c, const T* w,
                                             const T* bias, T* y) {
  constexpr int pixels = kSideBySide;
  constexpr Index width = Index(sizeof(V) / sizeof(T));
  V sums[pixels][vectors];
  for (int p = 0; p < pixels; ++p)
    for (int v = 0; v < vectors; ++v) sums[p][v] = *reinterpret_cast<const V*>(bias + v * width);
  const auto step = [c](const T*& at) {  // hidden, or gcc keeps an address for each
    at += c;
    asm("" : "+r"(at));
  };
  for (Index t = 0; t < taps.count; t += K) {
    const T *at = x + taps.at[t], *of_weight = w + taps.tap[t] * c;
    V weight[K][vectors];
#pragma GCC unroll 7
    for (int k = 0; k < K; ++k, step(of_weight))
      for (int v = 0; v < vectors; ++v)
        weight[k][v] = *reinterpret_cast<const V*>(of_weight + v * width);
#pragma GCC unroll 14
    for (int q = 0; q < pixels + K - 1; ++q, step(at))
      for (int v = 0; v < vectors; ++v) {
        const V one = *reinterpret_cast<const V*>(at + v * width);
#pragma GCC unroll 7
        for (int k = 0; k < K; ++k)
          if (q - k >= 0 && q - k < pixels) sums[q - k][v] += one * weight[k][v];
      }
  }
  for (int p = 0; p < pixels; ++p)
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(y + p * c + v * width) = sums[p][v];
}
// Of as many pixels or more; the last ones may be computed again.
template <int K, class Widest, class T>
[[gnu::always_inline]] inline void row_blocks(const T* x, Index pixels, const Taps& taps, Index c,
                                              const T* w, const T* bias, T* y) {
  using V = typename Lanes<T>::type;
  constexpr Index width = kLanes<T>, widest = Index(sizeof(Widest) / sizeof(T));
  for (Index next = 0; next < pixels; next += kSideBySide) {
    const Index at = std::min(next, pixels - kSideBySide) * c;
    Index i = 0;
    for (; i + 2 * widest <= c; i += 2 * widest)
      row_block<K, 2, Widest>(x + at + i, taps, c, w + i, bias + i, y + at + i);
    for (; i + 2 * width <= c; i += 2 * width)
      row_block<K, 2, V>(x + at + i, taps, c, w + i, bias + i, y + at + i);
    for (; i < c; i += width) row_block<K, 1, V>(x + at + i, taps, c, w + i, bias + i, y + at + i);
  }
}
template <int K, class T>
CLONES void set_rows(const T* x, Index pixels, const Taps& taps, Index c, const T* w, const T* bias,
                     T* y) {
  row_blocks<K, typename Lanes<T>::type>(x, pixels, taps, c, w, bias, y);
}
#if defined(__x86_64__)
template <int K, class T>
[[gnu::target("arch=x86-64-v4")]] void set_wide_rows(const T* x, Index pixels, const Taps& taps,
                                                     Index c, const T* w, const T* bias, T* y) {
  row_blocks<K, typename Lanes<T, 64>::type>(x, pixels, taps, c, w, bias, y);
}
template <int K, class T>
auto rows_of() {
  const bool wide = K > 3 ? uses_wide_vectors() : prefers_wide_vectors();
  return wide ? set_wide_rows<K, T> : set_rows<K, T>;
}
#else
template <int K, class T>
auto rows_of() {
  return set_rows<K, T>;
}
#endif
// For k taps in a row; null: set_windows serves.
template <class T>
auto rows_of(Index k) {
  return k == 3 ? rows_of<3, T>() : k == 5 ? rows_of<5, T>() : k == 7 ? rows_of<7, T>() : nullptr;
}

// x[t] += g * w[t]
template <class T>
CLONES void spread(const T* __restrict g, const Taps& taps, Index c, const T* __restrict w,
                   T* __restrict x) {
  for (Index t = 0; t < taps.count; ++t)
    for (Index i = 0; i < c; ++i) x[taps.at[t] + i] += g[i] * w[taps.tap[t] * c + i];
}

// w[t] += sum of g * x[t] over pixels, of n taps and one vector of channels.
template <int n, class T>
[[gnu::always_inline]] inline void weight_block(const T* g, const T* x, Index step, Index pixels,
                                                const Index* at, const Index* tap, Index c, T* w) {
  using V = typename Lanes<T>::type;
  V sums[n] = {};
  for (Index p = 0; p < pixels; ++p) {
    const V one = *reinterpret_cast<const V*>(g + p * c);
#pragma GCC unroll 9
    for (int t = 0; t < n; ++t) sums[t] += one * *reinterpret_cast<const V*>(x + p * step + at[t]);
  }
  for (int t = 0; t < n; ++t) *reinterpret_cast<V*>(w + tap[t] * c) += sums[t];
}
template <class T>
CLONES void add_weights(const T* g, const T* x, Index step, Index pixels, const Taps& taps, Index c,
                        T* w) {
  const Index *at = taps.at, *tap = taps.tap, count = taps.count;
  Index i = 0;
  for (; i + kLanes<T> <= c; i += kLanes<T>) {
    Index t = 0;
    for (; t + 9 <= count; t += 9)
      weight_block<9>(g + i, x + i, step, pixels, at + t, tap + t, c, w + i);
    for (; t + 3 <= count; t += 3)
      weight_block<3>(g + i, x + i, step, pixels, at + t, tap + t, c, w + i);
    for (; t < count; ++t) weight_block<1>(g + i, x + i, step, pixels, at + t, tap + t, c, w + i);
  }
  for (; i < c; ++i)
    for (Index t = 0; t < count; ++t)
      for (Index p = 0; p < pixels; ++p)
        w[tap[t] * c + i] += g[p * c + i] * x[p * step + at[t] + i];
}

// Elements as they are computed with, where they lie or widened; and room for results.
template <class S>
class Widened {
 public:
  using T = Compute<S>;
  Widened(const S* x, Index n) {
    if constexpr (std::is_same_v<S, T>)
      data_ = x;
    else
      convert_row(copy_.emplace(std::size_t(n)).data(), x, n), data_ = copy_->data();
  }
  const T* data() const { return data_; }

 private:
  std::optional<Scratch<T>> copy_;
  const T* data_;
};
template <class S, class F>
void written(S* to, Index n, F f) {  // f(where to write n results)
  if constexpr (std::is_same_v<S, Compute<S>>) {
    f(to);
  } else {
    Scratch<Compute<S>> wide{std::size_t(n)};
    f(wide.data());
    convert_row(to, wide.data(), n);
  }
}

template <class S>
std::vector<Compute<S>> with_channels_last(const ConvShape& s, const S* w, bool flipped) {
  const Index taps = s.kernel[1] * s.kernel[2];
  std::vector<Compute<S>> to(std::size_t(taps * s.c));
  for (Index c = 0; c < s.c; ++c)
    for (Index t = 0; t < taps; ++t)
      to[std::size_t(t * s.c + c)] = load(w + c * taps + (flipped ? taps - 1 - t : t));
  return to;
}
template <class S>
std::vector<Compute<S>> shifts(const ConvShape& s, const S* bias) {
  std::vector<Compute<S>> to(std::size_t(s.c));
  for (Index c = 0; c < s.c && bias; ++c) to[std::size_t(c)] = load(bias + c);
  return to;
}

// The taps of an axis that hit the image, for a window that begins at `first`: [first, last).
std::pair<Index, Index> inside(const ConvShape& s, int axis, Index first) {
  const Index step = s.dilation[axis], in = s.in[axis];
  const Index begin = first < 0 ? (-first + step - 1) / step : 0;
  const Index end = first < in ? std::min(s.kernel[axis], (in - 1 - first) / step + 1) : 0;
  return {std::min(begin, end), end};
}

// Pixels [begin, end) of each row of results, whose windows have the same columns of taps.
struct Run {
  Index begin, end;
  std::pair<Index, Index> columns;
};
std::vector<Run> runs_of(const ConvShape& s) {
  std::vector<Run> runs;
  for (Index q = 0; q < s.result[2]; ++q) {
    const auto columns = inside(s, 2, q * s.stride[2] - s.padding[2]);
    if (runs.empty() || runs.back().columns != columns) runs.push_back({q, q, columns});
    runs.back().end = q + 1;
  }
  return runs;
}
// Calls f(run, where the first window begins, its taps) for row h of results, in rows of the image
// that begin with row r0.
template <class F>
void each_run(const ConvShape& s, const std::vector<Run>& runs, Index h, Index r0, F f) {
  std::vector<Index> at(std::size_t(s.kernel[1] * s.kernel[2])), tap = at;
  const Index y = h * s.stride[1] - s.padding[1];
  const auto [i0, i1] = inside(s, 1, y);
  for (const Run& run : runs) {
    Index count = 0;
    for (Index i = i0; i < i1; ++i)
      for (Index j = run.columns.first; j < run.columns.second; ++j) {
        at[std::size_t(count)] = (i * s.dilation[1] * s.in[2] + j * s.dilation[2]) * s.c;
        tap[std::size_t(count++)] = i * s.kernel[2] + j;
      }
    const Index x = run.begin * s.stride[2] - s.padding[2];
    f(run, ((y - r0) * s.in[2] + x) * s.c, Taps{at.data(), tap.data(), count});
  }
}

// Rows [r0, r1) of the image are what rows [h0, h1) of the results read.
struct Band {
  Index h0, h1, r0, r1;
  Band(const ConvShape& s, Index from, Index to) : h0(from), h1(to) {
    const Index reach = s.dilation[1] * (s.kernel[1] - 1) + 1;
    r0 = std::clamp<Index>(h0 * s.stride[1] - s.padding[1], 0, s.in[1]);
    r1 = std::clamp<Index>((h1 - 1) * s.stride[1] - s.padding[1] + reach, r0, s.in[1]);
  }
};
Index band_rows(const ConvShape& s) {
  return std::clamp<Index>(kBandElements / (s.result[2] * s.c), 1, s.result[1]);
}

template <class S, class T>
void correlate(const ConvShape& s, const S* x, const std::vector<T>& w, const std::vector<T>& bias,
               S* y) {
  const std::vector<Run> runs = runs_of(s);
  const Index in = s.in[2] * s.c, out = s.result[2] * s.c, rows = band_rows(s);
  const Index bands = (s.result[1] + rows - 1) / rows;
  const Index work = std::max<Index>(rows * out * s.kernel[1] * s.kernel[2], 1);
  const bool in_rows = s.stride[2] == 1 && s.dilation[2] == 1 && s.c % kLanes<T> == 0;
  parallel_for(s.n * bands, 1 + 100'000 / work, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index n = i / bands, h = i % bands * rows;
      const Band band(s, h, std::min(s.result[1], h + rows));
      const Widened<S> image(x + (n * s.in[1] + band.r0) * in, (band.r1 - band.r0) * in);
      written(y + (n * s.result[1] + band.h0) * out, (band.h1 - band.h0) * out, [&](T* to) {
        for (Index r = band.h0; r < band.h1; ++r, to += out)
          each_run(s, runs, r, band.r0, [&](const Run& run, Index first, const Taps& taps) {
            const T* const from = image.data() + first;
            T* const results = to + run.begin * s.c;
            const Index pixels = run.end - run.begin;
            const auto set = rows_of<T>(run.columns.second - run.columns.first);
            if (in_rows && set && pixels >= kSideBySide)
              set(from, pixels, taps, s.c, w.data(), bias.data(), results);
            else
              set_windows(from, s.stride[2] * s.c, pixels, taps, s.c, w.data(), bias.data(),
                          results);
          });
      });
    }
  });
}

}  // namespace

template <class S>
void depthwise_forward(const ConvShape& s, const S* x, const S* w, const S* bias, S* y) {
  correlate(s, x, with_channels_last(s, w, false), shifts(s, bias), y);
}

template <class S>
void depthwise_grad_input(const ConvShape& s, const S* grad, const S* w, const S* bias, S* grad_x) {
  using T = Compute<S>;
  if (s.stride[1] == 1 && s.stride[2] == 1) {
    ConvShape back = s;
    for (int d = 1; d < 3; ++d) {
      std::swap(back.in[d], back.result[d]);
      back.padding[d] = s.dilation[d] * (s.kernel[d] - 1) - s.padding[d];
    }
    return correlate(back, grad, with_channels_last(s, w, true), shifts(s, bias), grad_x);
  }
  const std::vector<T> weights = with_channels_last(s, w, false), shift = shifts(s, bias);
  const std::vector<Run> runs = runs_of(s);
  const Index in = s.in[1] * s.in[2] * s.c, out = s.result[1] * s.result[2] * s.c;
  parallel_for(s.n, 1, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const Widened<S> g(grad + n * out, out);
      written(grad_x + n * in, in, [&](T* image) {
        for (Index p = 0; p < in; p += s.c) std::copy_n(shift.data(), s.c, image + p);
        for (Index h = 0; h < s.result[1]; ++h)
          each_run(s, runs, h, 0, [&](const Run& run, Index first, const Taps& taps) {
            for (Index q = run.begin; q < run.end; ++q)
              spread(g.data() + (h * s.result[2] + q) * s.c, taps, s.c, weights.data(),
                     image + first + (q - run.begin) * s.stride[2] * s.c);
          });
      });
      check_interrupt();
    }
  });
}

template <class S>
void depthwise_grad_weight(const ConvShape& s, const S* x, const S* grad, Compute<S>* grad_w) {
  using T = Compute<S>;
  const std::vector<Run> runs = runs_of(s);
  const Index taps = s.kernel[1] * s.kernel[2], parts = std::min(s.n, kParts);
  const Index in = s.in[2] * s.c, out = s.result[2] * s.c, rows = band_rows(s);
  std::vector<double> sums(std::size_t(parts * taps * s.c));
  const auto add_image = [&](Index n, std::vector<T>& row, double* to) {
    for (Index h = 0; h < s.result[1]; h += rows) {
      const Band band(s, h, std::min(s.result[1], h + rows));
      const Widened<S> image(x + (n * s.in[1] + band.r0) * in, (band.r1 - band.r0) * in);
      const Widened<S> g(grad + (n * s.result[1] + h) * out, (band.h1 - h) * out);
      for (Index r = h; r < band.h1; ++r) {
        std::fill(row.begin(), row.end(), T(0));
        each_run(s, runs, r, band.r0, [&](const Run& run, Index first, const Taps& hit) {
          add_weights(g.data() + (r - h) * out + run.begin * s.c, image.data() + first,
                      s.stride[2] * s.c, run.end - run.begin, hit, s.c, row.data());
        });
        for (std::size_t i = 0; i < row.size(); ++i) to[i] += double(row[i]);
      }
    }
  };
  parallel_for(parts, 1, [&](Index begin, Index end) {
    std::vector<T> row(std::size_t(taps * s.c));
    for (Index part = begin; part < end; ++part)
      for (Index n = s.n * part / parts; n < s.n * (part + 1) / parts; ++n) {
        add_image(n, row, sums.data() + part * taps * s.c);
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
template void depthwise_grad_input(const ConvShape&, const float*, const float*, const float*,
                                   float*);
template void depthwise_grad_weight(const ConvShape&, const float*, const float*, Compute<float>*);
template void depthwise_forward(const ConvShape&, const double*, const double*, const double*,
                                double*);
template void depthwise_grad_input(const ConvShape&, const double*, const double*, const double*,
                                   double*);
template void depthwise_grad_weight(const ConvShape&, const double*, const double*,
                                    Compute<double>*);
template void depthwise_forward(const ConvShape&, const bfloat16*, const bfloat16*, const bfloat16*,
                                bfloat16*);
template void depthwise_grad_input(const ConvShape&, const bfloat16*, const bfloat16*,
                                   const bfloat16*, bfloat16*);
template void depthwise_grad_weight(const ConvShape&, const bfloat16*, const bfloat16*,
                                    Compute<bfloat16>*);
template void depthwise_forward(const ConvShape&, const float16*, const float16*, const float16*,
                                float16*);
template void depthwise_grad_input(const ConvShape&, const float16*, const float16*, const float16*,
                                   float16*);
template void depthwise_grad_weight(const ConvShape&, const float16*, const float16*,
                                    Compute<float16>*);

}  // namespace rushlight::conv
