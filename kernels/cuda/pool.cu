// Pooling. Forward: a thread an output. Backward: a thread an input, which adds the gradients of
// the windows that cover it, in their order: no two threads write to one place.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

struct Window {
  Index begin, end, step;  // inside the image, `end` exclusive
  Index counted;           // elements of this axis in an average's divisor
};

__device__ Window window_of(const PoolShape& s, int axis, Index q) {
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

// Outputs whose window may cover position `at`: [first, last].
struct Span {
  Index first, last;
};
__device__ Span covering(const PoolShape& s, int axis, Index at) {
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

template <class C>
__global__ void max_items(PoolShape s, Reader<C> x, Writer<C> y, Index* indices,
                          std::uint8_t* codes) {
  const Index size = s.result[0] * s.result[1];
  for (Index o = first_item(); o < s.planes * size; o += stride()) {
    const Index plane = o / size * s.in[0] * s.in[1];
    const Window rows = window_of(s, 0, o % size / s.result[1]),
                 columns = window_of(s, 1, o % s.result[1]);
    C best = -std::numeric_limits<C>::infinity();
    Index winner = rows.begin * s.in[1] + columns.begin;
    for (Index h = rows.begin; h < rows.end; h += rows.step)
      for (Index w = columns.begin; w < columns.end; w += columns.step) {
        const C v = x[plane + h * s.in[1] + w];
        if (v > best || v != v) {
          best = v;
          winner = h * s.in[1] + w;
        }
      }
    y.set(o, best);
    if (indices) indices[o] = winner;
    if (codes)
      codes[o] =
          std::uint8_t((winner / s.in[1] - rows.begin) * 2 + winner % s.in[1] - columns.begin);
  }
}

template <class C>
__global__ void max_grad_items(PoolShape s, Reader<C> g, const Index* indices, Writer<C> out) {
  const Index size = s.result[0] * s.result[1], plane = s.in[0] * s.in[1];
  for (Index i = first_item(); i < s.planes * plane; i += stride()) {
    const Index at = i % plane, first = i / plane * size;
    const Span rows = covering(s, 0, at / s.in[1]), columns = covering(s, 1, at % s.in[1]);
    C sum = 0;
    for (Index r = rows.first; r <= rows.last; ++r)
      for (Index c = columns.first; c <= columns.last; ++c) {
        const Index o = first + r * s.result[1] + c;
        if (indices[o] == at) sum += g[o];
      }
    out.set(i, sum);
  }
}

__global__ void max_2x2_grad_items(PoolShape s, const float* g, const std::uint8_t* codes,
                                   float* out) {
  const Index size = s.result[0] * s.result[1], plane = s.in[0] * s.in[1];
  for (Index i = first_item(); i < s.planes * plane; i += stride()) {
    const Index h = i % plane / s.in[1], w = i % s.in[1];
    const bool inside = h / 2 < s.result[0] && w / 2 < s.result[1];  // an odd edge is in no window
    const Index o = i / plane * size + h / 2 * s.result[1] + w / 2;
    out[i] = inside && codes[o] == h % 2 * 2 + w % 2 ? g[o] : 0.f;
  }
}

template <class S>
__global__ void gather_items(PoolShape s, const S* x, const Index* indices, S* out, Note* note) {
  const Index size = s.result[0] * s.result[1], plane = s.in[0] * s.in[1];
  for (Index o = first_item(); o < s.planes * size; o += stride())
    out[o] = x[o / size * plane + checked_index(note, Noted::pool, indices[o], plane)];
}

template <class C>
__device__ C divisor(const PoolShape& s, const Window& rows, const Window& columns) {
  return C(s.divisor != 0 ? s.divisor : rows.counted * columns.counted);
}

template <class C>
__global__ void average_items(PoolShape s, Reader<C> x, Writer<C> y) {
  const Index size = s.result[0] * s.result[1];
  for (Index o = first_item(); o < s.planes * size; o += stride()) {
    const Index plane = o / size * s.in[0] * s.in[1];
    const Window rows = window_of(s, 0, o % size / s.result[1]),
                 columns = window_of(s, 1, o % s.result[1]);
    C sum = 0;
    for (Index h = rows.begin; h < rows.end; ++h)
      for (Index w = columns.begin; w < columns.end; ++w) sum += x[plane + h * s.in[1] + w];
    const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
    y.set(o, empty ? C(0) : sum / divisor<C>(s, rows, columns));
  }
}

template <class C>
__global__ void average_grad_items(PoolShape s, Reader<C> g, Writer<C> out) {
  const Index size = s.result[0] * s.result[1], plane = s.in[0] * s.in[1];
  for (Index i = first_item(); i < s.planes * plane; i += stride()) {
    const Index h = i % plane / s.in[1], w = i % s.in[1];
    const Span rows = covering(s, 0, h), columns = covering(s, 1, w);
    C sum = 0;
    for (Index r = rows.first; r <= rows.last; ++r)
      for (Index c = columns.first; c <= columns.last; ++c) {
        const Window high = window_of(s, 0, r), wide = window_of(s, 1, c);
        if (h >= high.begin && h < high.end && w >= wide.begin && w < wide.end)
          sum += g[i / plane * size + r * s.result[1] + c] / divisor<C>(s, high, wide);
      }
    out.set(i, sum);
  }
}

void max_pool(const PoolShape& s, const View& input, const View& out, const View* indices,
              const View* codes) {
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("max_pool", max_items<C>, out.numel, s, Reader<C>(input), Writer<C>(out),
                 indices ? indices->as<Index>() : nullptr,
                 codes ? codes->as<std::uint8_t>() : nullptr);
  });
}

__global__ void find_bad(const Index* indices, Index n, Index size, unsigned long long* first) {
  for (Index i = first_item(); i < n; i += stride())
    if (indices[i] < 0 || indices[i] >= size) atomicMin(first, (unsigned long long)(i));
}
Index check_indices(const PoolShape& s, const View& indices) {
  if (!blocking()) return -1;
  const Scratch<unsigned long long> first(1, "max_pool");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
        "max_pool");
  launch_items("max_pool", find_bad, indices.numel, indices.as<const Index>(), indices.numel,
               s.in[0] * s.in[1], first.data());
  return static_cast<Index>(fetch(first.data(), "max_pool"));
}

Index max_backward(const PoolShape& s, const View& grad, const View& indices,
                   const View& grad_input) {
  if (const Index bad = check_indices(s, indices); bad >= 0) return bad;
  compute_floating(grad.dtype, [&]<class C>(Type<C>) {
    launch_items("max_pool_backward", max_grad_items<C>, grad_input.numel, s, Reader<C>(grad),
                 indices.as<const Index>(), Writer<C>(grad_input));
  });
  return -1;
}

Index max_gather(const PoolShape& s, const View& input, const View& indices, const View& out) {
  if (const Index bad = check_indices(s, indices); bad >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("max_pool_backward", gather_items<S>, out.numel, s, input.as<const S>(),
                 indices.as<const Index>(), out.as<S>(), current().note);
  });
  return -1;
}

void max_2x2_backward(const PoolShape& s, const View& grad, const View& codes,
                      const View& grad_input) {
  launch_items("max_pool_backward", max_2x2_grad_items, grad_input.numel, s, grad.as<const float>(),
               codes.as<const std::uint8_t>(), grad_input.as<float>());
}

void average(const PoolShape& s, const View& input, const View& out) {
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("avg_pool", average_items<C>, out.numel, s, Reader<C>(input), Writer<C>(out));
  });
}

void average_backward(const PoolShape& s, const View& grad, const View& grad_input) {
  compute_floating(grad.dtype, [&]<class C>(Type<C>) {
    launch_items("avg_pool_backward", average_grad_items<C>, grad_input.numel, s, Reader<C>(grad),
                 Writer<C>(grad_input));
  });
}

}  // namespace

const PoolKernels pool_kernels = {max_pool,         max_backward, max_gather,
                                  max_2x2_backward, average,      average_backward};

}  // namespace rushlight::gpu
