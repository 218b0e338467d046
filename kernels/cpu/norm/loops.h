// The loops under the normalisations, each over contiguous memory. Note: blocks are short enough to
// be read twice from the nearest cache and to be summed in T without loss.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/lane_sums.h"
#include "kernels/host_device.h"
#include "kernels/view.h"

namespace rushlight::norm {

using Index = std::int64_t;
inline constexpr Index kBlock = Converted<float, float>::kBlock;

// Mean and sum of squared differences of a growing set (Chan's way of joining two sets).
struct Moments {
  double count = 0, mean = 0, m2 = 0;
  void join(double n, double other_mean, double other_m2) {
    const double both = count + n, delta = other_mean - mean;
    if (both == 0) return;
    mean += delta * n / both;
    m2 += other_m2 + delta * delta * count * n / both;
    count = both;
  }
};

// The mean of n <= kBlock values, and the sum of their squared differences from what is given.
template <class T>
[[gnu::always_inline]] inline double mean_of(const T* values, Index n) {
  return lane_sums<T, double, 1>(
             n, [&]<class L>(Index i, L) { return std::array{lanes_at<L>(values + i)}; })[0] /
         double(n);
}
template <class T>
[[gnu::always_inline]] inline double squares_from(const T* values, Index n, T middle) {
  return lane_sums<T, double, 1>(n, [&]<class L>(Index i, L) {
    const L d = lanes_at<L>(values + i) - middle;
    return std::array{L(d * d)};
  })[0];
}

// n <= kBlock
template <class S>
CLONES_512 void block_moments(const S* x, Index n, double& mean, double& m2) {
  using T = Compute<S>;
  Converted<S, T> converted;
  const T* const values = converted(x, n);
  mean = mean_of(values, n);
  m2 = squares_from(values, n, T(mean));
}

template <class S>
void add_moments(const S* x, Index n, Moments& all) {
  for (Index i = 0; i < n; i += kBlock) {
    const Index size = std::min(kBlock, n - i);
    double mean, m2;
    block_moments(x + i, size, mean, m2);
    all.join(double(size), mean, m2);
  }
}

template <class S>
CLONES_512 double squares_of(const S* x, Index n) {
  Converted<S, Compute<S>> converted;
  double squares = 0;
  for (Index i = 0; i < n; i += kBlock) {
    const Index size = std::min(kBlock, n - i);
    squares += squares_from(converted(x + i, size), size, Compute<S>(0));
  }
  return squares;
}

// Adds the sums of g and of g * (x - mean).
template <class S>
CLONES_512 void add_products(const S* g, const S* x, Index n, Compute<S> mean, double& sum,
                             double& product) {
  using T = Compute<S>;
  Converted<S, T> converted_g, converted_x;
  for (Index start = 0; start < n; start += kBlock) {
    const Index end = std::min(n, start + kBlock);
    const Index size = end - start;
    const T *const grads = converted_g(g + start, size), *const values =
                                                             converted_x(x + start, size);
    const auto both = lane_sums<T, double, 2>(size, [&]<class L>(Index i, L) {
      const L v = lanes_at<L>(grads + i);
      return std::array{v, L(v * (lanes_at<L>(values + i) - mean))};
    });
    sum += both[0];
    product += both[1];
  }
}

// y = x * a + b
template <class S>
CLONES_512 void scale(const S* __restrict x, Index n, Compute<S> a, Compute<S> b, S* __restrict y) {
  for (Index i = 0; i < n; ++i) store(y + i, load(x + i) * a + b);
}
// out = g * a + (x - mean) * b + c
template <class S, class T = Compute<S>>
CLONES_512 void combine(const S* __restrict g, const S* __restrict x, Index n, T a, T mean, T b,
                        T c, S* __restrict out) {
  for (Index i = 0; i < n; ++i) store(out + i, load(g + i) * a + ((load(x + i) - mean) * b + c));
}

// The same with one weight an element: plane == 1. Absent weights are given as ones, biases as
// zeros. y = (x - mean) * invstd * w + b
template <class S, class T = Compute<S>>
CLONES_512 void scale_each(const S* __restrict x, Index n, T mean, T invstd, const T* __restrict w,
                           const T* __restrict b, S* __restrict y) {
  for (Index i = 0; i < n; ++i) store(y + i, (load(x + i) - mean) * invstd * w[i] + b[i]);
}
// The same of rows of a block at most, with their means and inverse deviations; not `centered`, the
// mean counts as 0. As many rows as fill a block are converted at once. The last part of a row
// begins so early that it is whole.
inline constexpr Index kPart = 16;
template <class S, class T = Compute<S>>
CLONES_512 void normalize_rows(const S* x, Index rows, Index row, bool centered, double eps,
                               const T* __restrict w, const T* __restrict b, T* __restrict mean,
                               T* __restrict invstd, S* y) {
  Converted<S, T> converted;
  ConvertedBack<S, T> converted_back;
  for (Index first = 0, taken; first < rows; first += taken) {
    taken = std::min(rows - first, kBlock / row);
    const T* const block = converted(x + first * row, taken * row);
    T* const results = converted_back.begin(y + first * row);
    for (Index r = 0; r < taken; ++r) {
      const T* const values = block + r * row;
      const T m = centered ? T(mean_of(values, row)) : T(0);
      const T scale = T(1 / std::sqrt(squares_from(values, row, m) / double(row) + eps));
      mean[first + r] = m;
      invstd[first + r] = scale;
      for (Index i = 0; i < row; i += kPart) {
        const Index at = std::min(i, row - kPart);
        T* __restrict const to = results + r * row + at;
#pragma GCC unroll 1
        for (int k = 0; k < kPart; ++k)
          to[k] = (values[at + k] - m) * scale * w[at + k] + b[at + k];
      }
    }
    converted_back.end(y + first * row, taken * row);
  }
}
// Of kShortRows rows of fewer than kPart elements: sums run over the rows side by side, as one row
// does not fill a vector. Means, and sums of squared differences from them.
inline constexpr Index kShortRows = 16;
template <class S, class T = Compute<S>>
[[gnu::always_inline]] inline void short_moments(const S* __restrict x, Index row, bool centered,
                                                 T (&m)[kShortRows],
                                                 double (&squares)[kShortRows]) {
  double sums[kShortRows] = {};
  for (Index i = 0; i < row && centered; ++i)
    for (Index r = 0; r < kShortRows; ++r) sums[r] += double(load(x + r * row + i));
  for (Index r = 0; r < kShortRows; ++r) m[r] = T(sums[r] / double(row)), squares[r] = 0;
  for (Index i = 0; i < row; ++i)
    for (Index r = 0; r < kShortRows; ++r) {
      const T d = load(x + r * row + i) - m[r];
      squares[r] += double(d * d);
    }
}
template <class S>
CLONES_512 void add_short_moments(const S* x, Index row, Moments* all) {
  Compute<S> m[kShortRows];
  double squares[kShortRows];
  short_moments(x, row, true, m, squares);
  for (Index r = 0; r < kShortRows; ++r) all[r] = {double(row), double(m[r]), squares[r]};
}
// Such rows normalised. Each of `groups` rows has weights of its own, in turns; `group`: those of
// the first.
template <class S, class T = Compute<S>>
CLONES_512 void normalize_short_rows(const S* __restrict x, Index row, bool centered, double eps,
                                     const T* __restrict w, const T* __restrict b, Index groups,
                                     Index group, T* __restrict mean, T* __restrict invstd,
                                     S* __restrict y) {
  double squares[kShortRows];
  T m[kShortRows], scales[kShortRows];
  short_moments(x, row, centered, m, squares);
  for (Index r = 0; r < kShortRows; ++r)
    scales[r] = T(1 / std::sqrt(squares[r] / double(row) + eps));
  for (Index r = 0; r < kShortRows; ++r) {
    mean[r] = m[r];
    invstd[r] = scales[r];
    const T *const weights = w + group * row, *const biases = b + group * row;
    for (Index i = 0; i < row; ++i)
      store(y + r * row + i, (load(x + r * row + i) - m[r]) * scales[r] * weights[i] + biases[i]);
    group = group + 1 < groups ? group + 1 : 0;
  }
}
// Sums of g * w and of g * w * (x - mean).
template <class S, class T = Compute<S>>
CLONES_512 void add_weighted(const S* g, const S* x, Index n, T mean, const T* w, double& sum,
                             double& product) {
  Converted<S, T> converted_g, converted_x;
  for (Index start = 0; start < n; start += kBlock) {
    const Index end = std::min(n, start + kBlock);
    const Index size = end - start;
    const T *const grads = converted_g(g + start, size), *const values =
                                                             converted_x(x + start, size);
    const auto both = lane_sums<T, double, 2>(size, [&]<class L>(Index i, L) {
      const L v = lanes_at<L>(grads + i) * lanes_at<L>(w + start + i);
      return std::array{v, L(v * (lanes_at<L>(values + i) - mean))};
    });
    sum += both[0];
    product += both[1];
  }
}
// out = g * w * a + (x - mean) * b + c
template <class S, class T = Compute<S>>
CLONES_512 void combine_each(const S* __restrict g, const S* __restrict x, Index n,
                             const T* __restrict w, T a, T mean, T b, T c, S* __restrict out) {
  for (Index i = 0; i < n; ++i)
    store(out + i, load(g + i) * w[i] * a + ((load(x + i) - mean) * b + c));
}
// grad_w += g * (x - mean) * invstd, grad_b += g
template <class S, class T = Compute<S>>
CLONES_512 void add_parameters(const S* __restrict g, const S* __restrict x, Index n, T mean,
                               T invstd, T* __restrict grad_w, T* __restrict grad_b) {
  for (Index i = 0; i < n; ++i) {
    const T v = load(g + i);
    grad_w[i] += v * (load(x + i) - mean) * invstd;
    grad_b[i] += v;
  }
}

}  // namespace rushlight::norm
