// Max-pooling: a row of results at a time, so that the loops run along the row. Also fractional
// windows, and the inverse of max-pooling.
#include "kernels/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/read_once.h"
#include "kernels/host_device.h"
#include "windows.h"
#include "windows_2x2.h"

namespace rushlight {
namespace pool {
namespace {

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

// best[i] and at[i] (the position in the plane) after x[i * stride], which has position first + i *
// stride. at[] may be null. Fixed: the stride where it is known, so that rows are read in vectors.
template <int Fixed, class S>
[[gnu::always_inline]] inline void max_steps(const S* x, Index stride, Index n, int first,
                                             Compute<S>* best, int* at) {
  using T = Compute<S>;
  const Index step = Fixed ? Fixed : stride;
  if (!at) {
    for (Index i = 0; i < n; ++i) {
      const T v = load(x + i * step);
      best[i] = v > best[i] || v != v ? v : best[i];
    }
    return;
  }
  for (Index i = 0; i < n; ++i) {
    const T v = load(x + i * step);
    const bool wins = (v > best[i]) | (v != v);
    best[i] = wins ? v : best[i];
    at[i] = wins ? first + int(i) * int(step) : at[i];
  }
}
template <class S>
CLONES void max_row(const S* x, Index stride, Index n, int first, Compute<S>* best, int* at) {
  if (stride == 1) return max_steps<1>(x, stride, n, first, best, at);
  if (stride == 2) return max_steps<2>(x, stride, n, first, best, at);
  if (stride == 3) return max_steps<3>(x, stride, n, first, best, at);
  max_steps<0>(x, stride, n, first, best, at);
}

// The same as max_window of rows so long that each is cut, to answer Ctrl-C.
template <class S>
void max_long_window(const PoolShape& s, const S* image, const PoolWindow& d, const PoolWindow& h,
                     const PoolWindow& w, S* y, Index* index) {
  using T = Compute<S>;
  T best = kLowest<T>;
  Index winner = (d.begin * s.in[1] + h.begin) * s.in[2] + w.begin;
  for (Index i = d.begin; i < d.end; i += d.step)
    for (Index j = h.begin; j < h.end; j += h.step) {
      const S* const row = image + (i * s.in[1] + j) * s.in[2];
      serial_for((w.end - w.begin + w.step - 1) / w.step, [&](Index from, Index to) {
        for (Index k = w.begin + from * w.step; from < to; ++from, k += w.step)
          if (const T v = load(row + k); v > best || v != v) {
            best = v;
            winner = row - image + k;
          }
      });
    }
  store(y, best);
  if (index) *index = winner;
}

// One window, element by element.
template <class S>
void max_window(const PoolShape& s, const S* image, const PoolWindow& d, const PoolWindow& h,
                const PoolWindow& w, S* y, Index* index) {
  constexpr Index kLongRow = 1 << 22;
  if (w.end - w.begin > kLongRow) return max_long_window(s, image, d, h, w, y, index);
  using T = Compute<S>;
  T best = kLowest<T>;
  Index winner = (d.begin * s.in[1] + h.begin) * s.in[2] + w.begin;
  for (Index i = d.begin; i < d.end; i += d.step)
    for (Index j = h.begin; j < h.end; j += h.step)
      for (Index k = w.begin; k < w.end; k += w.step) {
        const Index at = (i * s.in[1] + j) * s.in[2] + k;
        const T v = load(image + at);
        if (v > best || v != v) {
          best = v;
          winner = at;
        }
      }
  store(y, best);
  if (index) *index = winner;
}

template <class S>
void max_pool(const PoolShape& s, const S* x, S* y, Index* indices) {
  using T = Compute<S>;
  const std::vector<PoolWindow> depths = windows(s, 0), rows = windows(s, 1), cols = windows(s, 2);
  const std::vector<Columns> taps = columns(s, 4);
  const Index plane = s.plane(), size = s.outputs(), width = s.result[2];
  const bool by_rows = !taps.empty() && plane <= std::numeric_limits<int>::max();
  each_plane(s, [&](Index begin, Index end) {
    Scratch<T> best(std::max<Index>(width, 1));
    Scratch<int> at(std::max<Index>(width, 1));
    Interruptible interruptible;
    for (Index p = begin; p < end; ++p) {
      const S* image = x + p * plane;
      Index o = p * size;
      for (const PoolWindow& d : depths)
        for (const PoolWindow& h : rows) {
          if (!by_rows) {
            for (const PoolWindow& w : cols) {
              max_window(s, image, d, h, w, y + o, indices ? indices + o : nullptr);
              interruptible.done(elements(d, h, w));
              ++o;
            }
            continue;
          }
          const Index start = (d.begin * s.in[1] + h.begin) * s.in[2];
          T* row = best.data();  // written where it belongs, if nothing is rounded
          if constexpr (std::is_same_v<S, T>) row = y + o;
          std::fill_n(row, width, kLowest<T>);
          for (Index q = 0; indices && q < width; ++q)
            at[std::size_t(q)] = int(start + cols[std::size_t(q)].begin);
          for (Index i = d.begin; i < d.end; i += d.step)
            for (Index j = h.begin; j < h.end; j += h.step) {
              for (const Columns& c : taps) {
                const Index from = (i * s.in[1] + j) * s.in[2] + c.first * s.stride[2] + c.offset;
                max_row(image + from, s.stride[2], c.last - c.first, int(from), row + c.first,
                        indices ? at.data() + c.first : nullptr);
              }
              interruptible.done(width * Index(taps.size()));
            }
          if constexpr (!std::is_same_v<S, T>)
            for (Index q = 0; q < width; ++q) store(y + o + q, row[q]);
          if (indices)
            for (Index q = 0; q < width; ++q) indices[o + q] = at[std::size_t(q)];
          o += width;
        }
    }
  });
}

void max(const PoolShape& s, const View& input, const View& out, const View* indices,
         const View* codes) {
  if (s.inside && is_floating(out.dtype)) return max_inside(s, input, out, indices);
  if (!indices && out.dtype == DType::float32 && has_2x2_windows(s)) {
    const Index plane = s.plane(), size = s.outputs();
    each_plane(s, [&](Index begin, Index end) {
      max_pool_2x2(input.as<float>() + begin * plane, end - begin, s.in[1], s.in[2],
                   out.as<float>() + begin * size,
                   codes ? codes->as<std::uint8_t>() + begin * size : nullptr);
    });
    return;
  }
  dispatch_all(out.dtype, [&]<class S>(Type<S>) {
    max_pool(s, input.as<S>(), out.as<S>(), indices ? indices->as<Index>() : nullptr);
  });
}

Index first_bad(const PoolShape& s, const View& indices) {
  const Index *at = indices.as<Index>(), plane = s.positions();
  for (Index i = 0; i < indices.numel; ++i)
    if (at[i] < 0 || at[i] >= plane) return i;
  return -1;
}

Index max_gather(const PoolShape& s, const View& input, const View& indices, const View& out) {
  const Index plane = s.plane(), size = s.outputs();
  const Index* at = indices.as<Index>();
  const Index bad = first_bad(s, indices);
  if (bad >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    each_plane(s, [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p)
        for (Index o = p * size; o < (p + 1) * size; ++o) {
          const Index from = checked_index(at + o, plane);  // it may have changed since
          out.as<S>()[o] = from < 0 ? S{} : input.as<S>()[p * plane + from];
        }
    });
  });
  return -1;
}

Index max_backward(const PoolShape& s, const View& grad, const View& indices,
                   const View& grad_input) {
  const Index plane = s.plane(), size = s.outputs();
  const Index* at = indices.as<Index>();
  const Index bad = first_bad(s, indices);
  if (bad >= 0) return bad;
  if (s.inside) {
    max_inside_backward(s, grad, indices, grad_input);
    return -1;
  }
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, Compute<S>* sums) {
      for (Index o = p * size; o < (p + 1) * size; ++o)
        if (const Index to = checked_index(at + o, plane); to >= 0)
          sums[to] += load(grad.as<S>() + o);
    });
  });
  return -1;
}

void max_2x2_backward(const PoolShape& s, const View& grad, const View& codes,
                      const View& grad_input) {
  const Index plane = s.plane(), size = s.outputs();
  each_plane(s, [&](Index begin, Index end) {
    max_pool_2x2_backward(grad.as<float>() + begin * size, codes.as<std::uint8_t>() + begin * size,
                          end - begin, s.in[1], s.in[2], grad_input.as<float>() + begin * plane);
  });
}

void fractional_max(const PoolShape& s, int rank, const View& input, const View& samples,
                    const View& out, const View& indices) {
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    each_plane(s, [&](Index begin, Index end) {
      std::vector<PoolWindow> columns(static_cast<std::size_t>(s.result[2]));
      for (Index p = begin; p < end; ++p) {
        const S* image = input.as<S>() + p * s.plane();
        const auto window = [&](int axis, Index q) -> PoolWindow {
          if (axis < 3 - rank) return {0, 1, 1, 1};
          const T sample = load(samples.as<S>() + p * rank + fractional_column(rank, axis));
          const Index start = fractional_start(s, axis, sample, q);
          return {start, start + s.kernel[axis], 1, s.kernel[axis]};
        };
        for (Index k = 0; k < s.result[2]; ++k) columns[std::size_t(k)] = window(2, k);
        Index o = p * s.outputs();
        for (Index i = 0; i < s.result[0]; ++i) {
          const PoolWindow depth = window(0, i);
          for (Index j = 0; j < s.result[1]; ++j) {
            const PoolWindow row = window(1, j);
            for (const PoolWindow& column : columns) {
              max_window(s, image, depth, row, column, out.as<S>() + o, indices.as<Index>() + o);
              ++o;
            }
          }
        }
      }
    });
  });
}

Index unpool(const PoolShape& s, const View& input, const View& indices, const View& out) {
  const Index plane = s.plane(), size = s.outputs();
  const Index* at = indices.as<Index>();
  const Index bad = first_bad(s, indices);
  if (bad >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    each_plane(s, [&](Index begin, Index end) {
      std::fill_n(out.as<S>() + begin * plane, (end - begin) * plane, S{});
      for (Index p = begin; p < end; ++p)
        for (Index o = p * size; o < (p + 1) * size; ++o)
          if (const Index to = checked_index(at + o, plane); to >= 0)
            out.as<S>()[p * plane + to] = input.as<S>()[o];
    });
  });
  return -1;
}

}  // namespace
}  // namespace pool

const PoolKernels cpu_pool = {
    .max = pool::max,
    .max_backward = pool::max_backward,
    .max_gather = pool::max_gather,
    .max_2x2_backward = pool::max_2x2_backward,
    .average = pool::average,
    .average_backward = pool::average_backward,
    .fractional_max = pool::fractional_max,
    .unpool = pool::unpool,
};

}  // namespace rushlight
