// What the pooling kernels of the CPU share: the windows of an axis as a table, loops over planes.
#pragma once
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/scratch.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "kernels/pool.h"

namespace rushlight::pool {

using Index = std::int64_t;

inline std::vector<PoolWindow> windows(const PoolShape& s, int axis) {
  std::vector<PoolWindow> all;
  all.reserve(std::size_t(s.result[axis]));
  serial_for(s.result[axis], [&](Index q, Index end) {
    for (; q < end; ++q) all.push_back(pool_window(s, axis, q));
  });
  return all;
}

inline Index elements(const PoolWindow& d, const PoolWindow& h, const PoolWindow& w) {
  return (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
}

// The outputs [first, last) along the width whose windows have their k-th element inside. None
// where loops along a row are not worth it: fewer than `least` outputs, windows of different sizes,
// or so long that the table would take more memory than the image.
struct Columns {
  Index first, last, offset;  // output q reads q * stride + offset
};
inline std::vector<Columns> columns(const PoolShape& s, Index least) {
  constexpr Index kLongest = 1 << 18;
  std::vector<Columns> all;
  const Index in = s.in[2], out = s.result[2], stride = s.stride[2];
  if (s.adaptive || out < least || s.kernel[2] > kLongest) return all;
  const Index before = s.padding[2] - (out - 1) * stride;  // of every window
  Index k = before > 0 ? (before + s.dilation[2] - 1) / s.dilation[2] : 0;
  for (; k < s.kernel[2]; ++k) {
    const Index offset = k * s.dilation[2] - s.padding[2];
    if (offset >= in) break;
    const Index first = offset < 0 ? (-offset + stride - 1) / stride : 0;
    all.push_back({first, std::min(out, (in - 1 - offset) / stride + 1), offset});
    if (all.back().first >= all.back().last) all.pop_back();
  }
  return all;
}

// Calls f(first plane, one past the last) over all planes, in parallel.
template <class F>
void each_plane(const PoolShape& s, F f) {
  const Index work = std::max<Index>(s.plane() + s.outputs(), 1);
  parallel_for(s.planes, 1 + 32768 / work, [&](Index begin, Index end) { f(begin, end); });
}

// A plane to add into: the result's own memory, or floats that are narrowed afterwards.
template <class S, class F>
void each_sum_plane(const PoolShape& s, S* out, F f) {
  using T = Compute<S>;
  const Index plane = s.plane();
  each_plane(s, [&](Index begin, Index end) {
    if constexpr (std::is_same_v<S, T>) {
      std::fill_n(out + begin * plane, (end - begin) * plane, T(0));
      for (Index p = begin; p < end; ++p) f(p, out + p * plane);
    } else {
      Scratch<T> sums(plane);
      for (Index p = begin; p < end; ++p) {
        std::fill_n(sums.data(), plane, T(0));
        f(p, sums.data());
        convert_row(out + p * plane, sums.data(), plane);
      }
    }
  });
}

// In average.cpp.
void average(const PoolShape& s, const View& input, const View& out);
void average_backward(const PoolShape& s, const View& grad, const View& grad_input);

// In channels.cpp, of floats whose channels lie innermost (s.inside). indices may be null.
void max_inside(const PoolShape& s, const View& input, const View& out, const View* indices);
void max_inside_backward(const PoolShape& s, const View& grad, const View& indices,
                         const View& grad_input);
void average_inside(const PoolShape& s, const View& input, const View& out);
void average_inside_backward(const PoolShape& s, const View& grad, const View& grad_input);

}  // namespace rushlight::pool
