// Pooling over the last three dimensions; images have a depth of 1, signals also a height of 1.
// The windows are written here once for all devices.
#pragma once
#include "view.h"

namespace rushlight {

// input (planes, in...), out (planes, result...); the caller computed and checked result. Axes are
// depth, height, width. Adaptive pooling ignores kernel, stride, padding and dilation.
struct PoolShape {
  using Index = std::int64_t;
  Index planes;
  Index in[3], kernel[3], stride[3], padding[3], dilation[3], result[3];
  bool adaptive = false;
  bool count_include_pad = true;  // average: whether padding counts in the divisor
  Index divisor = 0;  // average: the divisor itself, where not 0
  // On the CPU: the last axis holds channels, which are not pooled, and the first two are the
  // image's; indices are positions in the plane of those two.
  bool inside = false;

  HOST_DEVICE Index plane() const { return in[0] * in[1] * in[2]; }
  HOST_DEVICE Index positions() const { return inside ? in[0] * in[1] : plane(); }
  HOST_DEVICE Index outputs() const { return result[0] * result[1] * result[2]; }
};

// Along one axis: every `step`-th element from `begin`, which lies inside, to `end`, exclusive.
struct PoolWindow {
  std::int64_t begin, end, step;
  std::int64_t counted;  // elements of this axis in an average's divisor

  HOST_DEVICE bool empty() const { return begin >= end; }  // only padding under it
};

HOST_DEVICE inline PoolWindow pool_window(const PoolShape& s, int axis, std::int64_t q) {
  using Index = std::int64_t;
  const Index in = s.in[axis], out = s.result[axis];
  if (s.adaptive) {
    const Index begin = q * in / out, end = ((q + 1) * in + out - 1) / out;
    return {begin, end, 1, end - begin};
  }
  const Index step = s.dilation[axis], first = q * s.stride[axis] - s.padding[axis];
  const Index stop = first + (s.kernel[axis] - 1) * step + 1;
  const Index begin = first < 0 ? first + (-first + step - 1) / step * step : first;
  const Index end = stop < in ? stop : in, padded = in + s.padding[axis];
  const Index counted = s.count_include_pad ? (stop < padded ? stop : padded) - first
                                            : (end > begin ? end - begin : 0);
  return {begin, end, step, counted};
}

// The outputs whose window may cover position `at`: [first, last].
struct PoolSpan {
  std::int64_t first, last;
};
HOST_DEVICE inline PoolSpan pool_covering(const PoolShape& s, int axis, std::int64_t at) {
  using Index = std::int64_t;
  const Index in = s.in[axis], out = s.result[axis];
  Index first, last;
  if (s.adaptive) {
    first = at * out / in;
    last = ((at + 1) * out + in - 1) / in;
  } else {
    const Index reach = at + s.padding[axis] - (s.kernel[axis] - 1) * s.dilation[axis];
    first = reach <= 0 ? 0 : (reach + s.stride[axis] - 1) / s.stride[axis];
    last = (at + s.padding[axis]) / s.stride[axis];
  }
  return {first, last < out - 1 ? last : out - 1};
}

HOST_DEVICE inline std::int64_t pool_divisor(const PoolShape& s, const PoolWindow& d,
                                             const PoolWindow& h, const PoolWindow& w) {
  return s.divisor != 0 ? s.divisor : d.counted * h.counted * w.counted;
}

// Where output q of a fractional pooling begins (Graham, 2014), for a sample in [0, 1).
template <class T>
HOST_DEVICE inline std::int64_t fractional_start(const PoolShape& s, int axis, T sample,
                                                 std::int64_t q) {
  const std::int64_t out = s.result[axis], room = s.in[axis] - s.kernel[axis];
  if (q == out - 1) return room;
  const T alpha = T(room) / T(out - 1);
  const std::int64_t start =
      convert<std::int64_t>((T(q) + sample) * alpha) - convert<std::int64_t>(sample * alpha);
  return start < 0 ? 0 : start < room ? start : room;
}
// The column of the samples that an axis uses: torch's order is depth, height, width in three
// dimensions and width, height in two.
HOST_DEVICE inline int fractional_column(int rank, int axis) { return rank == 3 ? axis : 2 - axis; }

// 2x2 windows side by side, without padding: what has kernels of its own.
inline bool has_2x2_windows(const PoolShape& s) {
  for (int d = 1; d < 3; ++d)
    if (s.kernel[d] != 2 || s.stride[d] != 2 || s.padding[d] != 0 || s.dilation[d] != 1 ||
        s.result[d] != s.in[d] / 2)
      return false;
  return !s.adaptive && s.in[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0;
}

// Views are contiguous and of one floating dtype; `indices` int64, flat positions in a plane.
struct PoolKernels {
  // A NaN wins, else the first of the largest; on the CPU also of integers. `indices` and `codes`
  // may be null; codes (uint8, the winner as 0..3, an eighth of the size) are for has_2x2_windows()
  // in float32 only.
  void (*max)(const PoolShape& s, const View& input, const View& out, const View* indices,
              const View* codes);
  // Returns the position of the first index outside its plane, having written nothing, or -1.
  std::int64_t (*max_backward)(const PoolShape& s, const View& grad, const View& indices,
                               const View& grad_input);
  // Its gradient: out[o] = input[indices[o]], in the result's shape. Returns as max_backward.
  std::int64_t (*max_gather)(const PoolShape& s, const View& input, const View& indices,
                             const View& out);
  void (*max_2x2_backward)(const PoolShape& s, const View& grad, const View& codes,
                           const View& grad_input);
  // On the CPU also of int64: the sums are divided as integers.
  void (*average)(const PoolShape& s, const View& input, const View& out);
  void (*average_backward)(const PoolShape& s, const View& grad, const View& grad_input);
  // Windows of s.kernel, of `rank` dimensions; samples (planes, rank) of input's dtype.
  void (*fractional_max)(const PoolShape& s, int rank, const View& input, const View& samples,
                         const View& out, const View& indices);
  // out[indices[o]] = input[o], and 0 elsewhere: input has s.result's shape, out s.in's. Any dtype.
  // Returns as max_backward.
  std::int64_t (*unpool)(const PoolShape& s, const View& input, const View& indices,
                         const View& out);
};

extern const PoolKernels cpu_pool;

}  // namespace rushlight
