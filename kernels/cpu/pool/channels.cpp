// Pooling of images whose channels lie innermost: a pixel of the result is made of whole rows of
// channels, so that the loops run along them. PoolShape's axes are height, width and channels.
#include <limits>

#include "kernels/cpu/read_once.h"
#include "kernels/host_device.h"
#include "windows.h"

namespace rushlight::pool {
namespace {

constexpr Index kSummed = 64;  // rows that are added up before their sum is

// The positions of a window, each once.
struct Taps {
  std::vector<Index> all;
  void collect(const PoolShape& s, const PoolWindow& h, const PoolWindow& w) {
    const Index columns = w.empty() ? 0 : (w.end - w.begin + w.step - 1) / w.step;
    all.resize(std::size_t(h.empty() ? 0 : (h.end - h.begin + h.step - 1) / h.step * columns));
    Index* to = all.data();
    for (Index i = h.begin; i < h.end && columns; i += h.step, to += columns)
      for (Index k = 0; k < columns; ++k) to[k] = i * s.in[1] + w.begin + k * w.step;
  }
};

// A NaN wins, else the first of the largest; `at` and `indices` may be null.
template <class S, class T = Compute<S>>
CLONES void max_pixel(const S* image, const Index* taps, std::size_t count, int start, Index c,
                      T* __restrict best, int* __restrict at, S* __restrict y,
                      Index* __restrict indices) {
  for (Index i = 0; i < c; ++i) best[i] = -std::numeric_limits<T>::infinity();
  for (Index i = 0; i < c && at; ++i) at[i] = start;
  for (std::size_t t = 0; t < count; ++t) {
    const S* x = image + taps[t] * c;
    const int position = int(taps[t]);
    if (at)
      for (Index i = 0; i < c; ++i) {
        const T v = load(x + i);
        const bool wins = (v > best[i]) | (v != v);
        best[i] = wins ? v : best[i];
        at[i] = wins ? position : at[i];
      }
    else
      for (Index i = 0; i < c; ++i) {
        const T v = load(x + i);
        best[i] = (v > best[i]) | (v != v) ? v : best[i];
      }
  }
  for (Index i = 0; i < c; ++i) store(y + i, best[i]);
  for (Index i = 0; i < c && at; ++i) indices[i] = at[i];
}

// The sum of those rows times `factor`, or over `divisor` where that is not 0.
template <class S, class T = Compute<S>>
CLONES void average_pixel(const S* image, const Index* taps, Index count, Index c, T divisor,
                          T factor, T* __restrict sums, T* __restrict block, S* __restrict y) {
  if (count == 4) {  // 2 x 2, most of all poolings: in one pass
    const S *x0 = image + taps[0] * c, *x1 = image + taps[1] * c;
    const S *x2 = image + taps[2] * c, *x3 = image + taps[3] * c;
    if (divisor != T(0))
      for (Index i = 0; i < c; ++i)
        store(y + i, (T(0) + load(x0 + i) + load(x1 + i) + load(x2 + i) + load(x3 + i)) / divisor);
    else
      for (Index i = 0; i < c; ++i)
        store(y + i, (T(0) + load(x0 + i) + load(x1 + i) + load(x2 + i) + load(x3 + i)) * factor);
    return;
  }
  for (Index i = 0; i < c; ++i) sums[i] = T(0);
  for (Index first = 0; first < count; first += kSummed) {
    T* const to = first ? block : sums;
    for (Index i = 0; i < c && first; ++i) block[i] = T(0);
    const Index end = std::min(count, first + kSummed);
    Index t = first;
    const auto row = [&](Index k) { return image + taps[t + k] * c; };
    for (; t + 8 <= end; t += 8) {  // each time that the sum is stored takes as long as two more
      const S *x0 = row(0), *x1 = row(1), *x2 = row(2), *x3 = row(3);
      const S *x4 = row(4), *x5 = row(5), *x6 = row(6), *x7 = row(7);
      for (Index i = 0; i < c; ++i)
        to[i] = to[i] + load(x0 + i) + load(x1 + i) + load(x2 + i) + load(x3 + i) + load(x4 + i) +
                load(x5 + i) + load(x6 + i) + load(x7 + i);
    }
    for (; t + 4 <= end; t += 4) {
      const S *x0 = row(0), *x1 = row(1), *x2 = row(2), *x3 = row(3);
      for (Index i = 0; i < c; ++i)
        to[i] = to[i] + load(x0 + i) + load(x1 + i) + load(x2 + i) + load(x3 + i);
    }
    for (; t < end; ++t) {
      const S* x = row(0);
      for (Index i = 0; i < c; ++i) to[i] += load(x + i);
    }
    for (Index i = 0; i < c && first; ++i) sums[i] += block[i];
  }
  if (divisor != T(0))
    for (Index i = 0; i < c; ++i) store(y + i, sums[i] / divisor);
  else
    for (Index i = 0; i < c; ++i) store(y + i, sums[i] * factor);
}

// Adds g / divisor to each of those rows.
template <class S, class T = Compute<S>>
CLONES void spread_pixel(const S* __restrict g, const Index* taps, Index count, Index c, T divisor,
                         T* __restrict share, T* __restrict sums) {
  for (Index i = 0; i < c; ++i) share[i] = load(g + i) / divisor;
  for (Index t = 0; t < count; ++t) {
    T* const to = sums + taps[t] * c;
    for (Index i = 0; i < c; ++i) to[i] += share[i];
  }
}

// Calls f(pixel of the result, windows, taps) for all of an image.
template <class F>
void each_pixel(const PoolShape& s, const std::vector<PoolWindow>& rows,
                const std::vector<PoolWindow>& cols, F f) {
  Taps taps;
  Index pixel = 0;
  Interruptible interruptible;
  for (const PoolWindow& h : rows)
    for (const PoolWindow& w : cols) {
      taps.collect(s, h, w);
      f(pixel++, h, w, taps.all);
      interruptible.done((1 + Index(taps.all.size())) * s.in[2]);
    }
}

constexpr PoolWindow kChannel = {0, 1, 1, 1};

}  // namespace

void max_inside(const PoolShape& s, const View& input, const View& out, const View* indices) {
  const std::vector<PoolWindow> rows = windows(s, 0), cols = windows(s, 1);
  const Index c = s.in[2];
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    each_plane(s, [&](Index begin, Index end) {
      Scratch<Compute<S>> best(c);
      Scratch<int> at(indices ? c : 1);
      for (Index p = begin; p < end; ++p)
        each_pixel(s, rows, cols,
                   [&](Index pixel, const PoolWindow& h, const PoolWindow& w,
                       const std::vector<Index>& taps) {
                     const Index o = p * s.outputs() + pixel * c;
                     max_pixel(input.as<const S>() + p * s.plane(), taps.data(), taps.size(),
                               int(h.begin * s.in[1] + w.begin), c, best.data(),
                               indices ? at.data() : nullptr, out.as<S>() + o,
                               indices ? indices->as<Index>() + o : nullptr);
                   });
    });
  });
}

void max_inside_backward(const PoolShape& s, const View& grad, const View& indices,
                         const View& grad_input) {
  const Index c = s.in[2], size = s.outputs(), positions = s.positions();
  const Index* at = indices.as<Index>();
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, Compute<S>* sums) {
      const S* g = grad.as<const S>() + p * size;
      for (Index o = 0; o < size; o += c)
        for (Index i = 0; i < c; ++i)
          if (const Index to = checked_index(at + p * size + o + i, positions); to >= 0)
            sums[to * c + i] += load(g + o + i);
    });
  });
}

void average_inside(const PoolShape& s, const View& input, const View& out) {
  const std::vector<PoolWindow> rows = windows(s, 0), cols = windows(s, 1);
  const Index c = s.in[2];
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    each_plane(s, [&](Index begin, Index end) {
      Scratch<T> sums(c), block(c);
      for (Index p = begin; p < end; ++p)
        each_pixel(s, rows, cols,
                   [&](Index pixel, const PoolWindow& h, const PoolWindow& w,
                       const std::vector<Index>& taps) {
                     const Index by = taps.empty() ? 1 : pool_divisor(s, h, w, kChannel);
                     const bool exact = by > 0 && (by & (by - 1)) == 0;  // its inverse is a float
                     average_pixel(input.as<const S>() + p * s.plane(), taps.data(),
                                   Index(taps.size()), c, exact ? T(0) : T(by), T(1) / T(by),
                                   sums.data(), block.data(),
                                   out.as<S>() + p * s.outputs() + pixel * c);
                   });
    });
  });
}

void average_inside_backward(const PoolShape& s, const View& grad, const View& grad_input) {
  const std::vector<PoolWindow> rows = windows(s, 0), cols = windows(s, 1);
  const Index c = s.in[2];
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, T* sums) {
      Scratch<T> share(c);
      each_pixel(s, rows, cols,
                 [&](Index pixel, const PoolWindow& h, const PoolWindow& w,
                     const std::vector<Index>& taps) {
                   if (!taps.empty())
                     spread_pixel(grad.as<const S>() + p * s.outputs() + pixel * c, taps.data(),
                                  Index(taps.size()), c, T(pool_divisor(s, h, w, kChannel)),
                                  share.data(), sums);
                 });
    });
  });
}

}  // namespace rushlight::pool
