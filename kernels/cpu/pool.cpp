// Pooling: a table of windows per axis serves plain, padded, dilated and adaptive pooling alike.
#include "../pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "../parallel.h"
#include "pool_2x2.h"
#include "read_once.h"
#include "scratch.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

struct Window {
  Index begin, end;  // inside the image, `end` exclusive
  Index counted;     // elements of this axis in an average's divisor
};

std::vector<Window> windows(const PoolShape& s, int axis) {
  std::vector<Window> all;
  const Index in = s.in[axis], out = s.result[axis];
  for (Index q = 0; q < out; ++q) {
    if (s.adaptive) {
      const Index begin = q * in / out, end = ((q + 1) * in + out - 1) / out;
      all.push_back({begin, end, end - begin});
      continue;
    }
    const Index step = s.dilation[axis];
    const Index first = q * s.stride[axis] - s.padding[axis];
    const Index stop = first + (s.kernel[axis] - 1) * step + 1;
    const Index begin = first < 0 ? first + (-first + step - 1) / step * step : first;
    const Index end = std::min(stop, in);
    const Index counted = s.count_include_pad ? std::min(stop, in + s.padding[axis]) - first
                                              : std::max<Index>(end - begin, 0);
    all.push_back({begin, end, counted});
  }
  return all;
}

// Calls f(first plane, one past the last) over all planes, in parallel.
template <class F>
void each_plane(const PoolShape& s, F f) {
  const Index work = std::max<Index>(s.in[0] * s.in[1] + s.result[0] * s.result[1], 1);
  parallel_for(s.planes, 1 + 32768 / work, [&](Index begin, Index end) { f(begin, end); });
}

bool has_2x2_windows(const PoolShape& s) {
  for (int d = 0; d < 2; ++d)
    if (s.adaptive || s.kernel[d] != 2 || s.stride[d] != 2 || s.padding[d] != 0 ||
        s.dilation[d] != 1 || s.result[d] != s.in[d] / 2)
      return false;
  return true;
}

template <class S>
void max_pool(const PoolShape& s, const S* x, S* y, Index* indices) {
  using T = Compute<S>;
  const std::vector<Window> rows = windows(s, 0), cols = windows(s, 1);
  const Index in_w = s.in[1], plane = s.in[0] * in_w, size = s.result[0] * s.result[1];
  const Index step_h = s.adaptive ? 1 : s.dilation[0], step_w = s.adaptive ? 1 : s.dilation[1];
  each_plane(s, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const S* image = x + p * plane;
      Index o = p * size;
      for (const Window& r : rows)
        for (const Window& c : cols) {
          T best = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                        : std::numeric_limits<T>::lowest();
          Index winner = r.begin * in_w + c.begin;
          for (Index h = r.begin; h < r.end; h += step_h)
            for (Index w = c.begin; w < c.end; w += step_w) {
              const T v = load(image + h * in_w + w);
              if (v > best || v != v) {
                best = v;
                winner = h * in_w + w;
              }
            }
          store(y + o, best);
          if (indices) indices[o] = winner;
          ++o;
        }
    }
  });
}

void max_kernel(const PoolShape& s, const View& input, const View& out, const View* indices,
                const View* codes) {
  if (!indices && out.dtype == DType::float32 && has_2x2_windows(s)) {
    const Index plane = s.in[0] * s.in[1], size = s.result[0] * s.result[1];
    each_plane(s, [&](Index begin, Index end) {
      max_pool_2x2(input.as<float>() + begin * plane, end - begin, s.in[0], s.in[1],
                   out.as<float>() + begin * size,
                   codes ? codes->as<std::uint8_t>() + begin * size : nullptr);
    });
    return;
  }
  dispatch_all(out.dtype, [&]<class S>(Type<S>) {
    max_pool(s, input.as<S>(), out.as<S>(), indices ? indices->as<Index>() : nullptr);
  });
}

// A plane to add into: the result's own memory, or floats that are narrowed afterwards.
template <class S, class F>
void each_sum_plane(const PoolShape& s, S* out, F f) {
  using T = Compute<S>;
  const Index plane = s.in[0] * s.in[1];
  each_plane(s, [&](Index begin, Index end) {
    Scratch<T> wide(std::is_same_v<S, T> ? 1 : plane);
    for (Index p = begin; p < end; ++p) {
      T* sums = wide.data();
      if constexpr (std::is_same_v<S, T>) sums = out + p * plane;
      std::fill_n(sums, plane, T(0));
      f(p, sums);
      if constexpr (!std::is_same_v<S, T>)
        for (Index i = 0; i < plane; ++i) store(out + p * plane + i, sums[i]);
    }
  });
}

Index first_bad(const PoolShape& s, const View& indices) {
  const Index* at = indices.as<Index>();
  for (Index i = 0; i < indices.numel; ++i)
    if (at[i] < 0 || at[i] >= s.in[0] * s.in[1]) return i;
  return -1;
}

Index max_gather_kernel(const PoolShape& s, const View& input, const View& indices,
                        const View& out) {
  const Index plane = s.in[0] * s.in[1], size = s.result[0] * s.result[1];
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

Index max_backward_kernel(const PoolShape& s, const View& grad, const View& indices,
                          const View& grad_input) {
  const Index plane = s.in[0] * s.in[1], size = s.result[0] * s.result[1];
  const Index* at = indices.as<Index>();
  const Index bad = first_bad(s, indices);
  if (bad >= 0) return bad;
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, Compute<S>* sums) {
      for (Index o = p * size; o < (p + 1) * size; ++o)
        if (const Index to = checked_index(at + o, plane); to >= 0)
          sums[to] += load(grad.as<S>() + o);
    });
  });
  return -1;
}

void max_2x2_backward_kernel(const PoolShape& s, const View& grad, const View& codes,
                             const View& grad_input) {
  const Index plane = s.in[0] * s.in[1], size = s.result[0] * s.result[1];
  each_plane(s, [&](Index begin, Index end) {
    max_pool_2x2_backward(grad.as<float>() + begin * size, codes.as<std::uint8_t>() + begin * size,
                          end - begin, s.in[0], s.in[1], grad_input.as<float>() + begin * plane);
  });
}

template <class T>
T divisor(const PoolShape& s, const Window& r, const Window& c) {
  return T(s.divisor != 0 ? s.divisor : r.counted * c.counted);
}

// Truncated; -1 apart, whose quotient of the least integer has no place.
Index divide(Index sum, Index by) { return by == -1 ? Index(0 - std::uint64_t(sum)) : sum / by; }

// The type that sums are made in: integers wrap around.
template <class S>
struct Sum {
  using Type = Compute<S>;
};
template <>
struct Sum<std::int64_t> {
  using Type = std::uint64_t;
};

// A whole plane into one number, as the last pooling of a network does.
template <class S, class T>
CLONES T plane_sum(const S* x, Index n) {
  constexpr int kLanes = 32;
  T lanes[kLanes] = {}, sum = 0;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] += T(load(x + i + k));
  for (; i < n; ++i) sum += T(load(x + i));
  for (int k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

template <class S>
void average(const PoolShape& s, const S* x, S* y) {
  using T = typename Sum<S>::Type;
  const std::vector<Window> rows = windows(s, 0), cols = windows(s, 1);
  const Index in_w = s.in[1], plane = s.in[0] * in_w, size = s.result[0] * s.result[1];
  each_plane(s, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const S* image = x + p * plane;
      S* out = y + p * size;
      for (const Window& r : rows)
        for (const Window& c : cols) {
          T sum = 0;
          if (r.end - r.begin == s.in[0] && c.end - c.begin == in_w)
            sum = plane_sum<S, T>(image, plane);
          else
            for (Index h = r.begin; h < r.end; ++h)
              for (Index w = c.begin; w < c.end; ++w) sum += T(load(image + h * in_w + w));
          const bool empty = r.begin >= r.end || c.begin >= c.end;  // only padding under it
          if constexpr (std::is_same_v<S, std::int64_t>)
            *out++ = empty ? 0 : divide(S(sum), divisor<S>(s, r, c));
          else
            store(out++, empty ? T(0) : sum / divisor<T>(s, r, c));
        }
    }
  });
}

void average_kernel(const PoolShape& s, const View& input, const View& out) {
  if (out.dtype == DType::int64)
    return average(s, input.as<std::int64_t>(), out.as<std::int64_t>());
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) { average(s, input.as<S>(), out.as<S>()); });
}

void average_backward_kernel(const PoolShape& s, const View& grad, const View& grad_input) {
  const std::vector<Window> rows = windows(s, 0), cols = windows(s, 1);
  const Index in_w = s.in[1], size = s.result[0] * s.result[1];
  dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    each_sum_plane(s, grad_input.as<S>(), [&](Index p, T* sums) {
      const S* g = grad.as<S>() + p * size;
      for (const Window& r : rows)
        for (const Window& c : cols) {
          const T share = load(g++) / divisor<T>(s, r, c);
          for (Index h = r.begin; h < r.end; ++h)
            for (Index w = c.begin; w < c.end; ++w) sums[h * in_w + w] += share;
        }
    });
  });
}

}  // namespace

const PoolKernels cpu_pool = {max_kernel,        max_backward_kernel,
                              max_gather_kernel, max_2x2_backward_kernel,
                              average_kernel,    average_backward_kernel};

}  // namespace rushlight
