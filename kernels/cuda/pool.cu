// Pooling. Forward: a thread an output. Backward: a thread an input, which adds the gradients of
// the windows that cover it, in their order: no two threads write to one element.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// The windows of output o.
struct Windows {
  PoolWindow d, h, w;
  __device__ Windows(const PoolShape& s, Index o)
      : d(pool_window(s, 0, o / s.result[2] / s.result[1])),
        h(pool_window(s, 1, o / s.result[2] % s.result[1])),
        w(pool_window(s, 2, o % s.result[2])) {}
  __device__ bool empty() const { return d.empty() || h.empty() || w.empty(); }
};

// The largest of one window: its value, and its position in the plane.
template <class C>
struct Winner {
  C best;
  Index at;
};
template <class C>
__device__ Winner<C> largest(const PoolShape& s, const Reader<C>& x, Index plane,
                             const PoolWindow& d, const PoolWindow& h, const PoolWindow& w) {
  Winner<C> found{-std::numeric_limits<C>::infinity(),
                  (d.begin * s.in[1] + h.begin) * s.in[2] + w.begin};
  for (Index i = d.begin; i < d.end; i += d.step)
    for (Index j = h.begin; j < h.end; j += h.step)
      for (Index k = w.begin; k < w.end; k += w.step) {
        const Index at = (i * s.in[1] + j) * s.in[2] + k;
        const C v = x[plane + at];
        if (v > found.best || v != v) found = {v, at};
      }
  return found;
}

template <class C>
__global__ void max_items(PoolShape s, Reader<C> x, Writer<C> y, Index* indices,
                          std::uint8_t* codes) {
  const Index size = s.outputs();
  for (Index o = first_item(); o < s.planes * size; o += stride()) {
    const Windows at(s, o % size);
    const Winner<C> found = largest(s, x, o / size * s.plane(), at.d, at.h, at.w);
    y.set(o, found.best);
    if (indices) indices[o] = found.at;
    if (codes)
      codes[o] =
          std::uint8_t((found.at / s.in[2] - at.h.begin) * 2 + found.at % s.in[2] - at.w.begin);
  }
}

template <class C>
__global__ void fractional_items(PoolShape s, int rank, Reader<C> x, Reader<C> samples, Writer<C> y,
                                 Index* indices) {
  const Index size = s.outputs();
  for (Index o = first_item(); o < s.planes * size; o += stride()) {
    const Index p = o / size, q[3] = {o % size / s.result[2] / s.result[1],
                                      o / s.result[2] % s.result[1], o % s.result[2]};
    PoolWindow window[3];
    for (int axis = 0; axis < 3; ++axis) {
      const Index start =
          axis < 3 - rank
              ? 0
              : fractional_start(s, axis, samples[p * rank + fractional_column(rank, axis)],
                                 q[axis]);
      window[axis] = {start, start + s.kernel[axis], 1, s.kernel[axis]};
    }
    const Winner<C> found = largest(s, x, p * s.plane(), window[0], window[1], window[2]);
    y.set(o, found.best);
    indices[o] = found.at;
  }
}

// Calls f(o) for every output whose window may cover item i of the inputs.
template <class F>
__device__ void each_covering(const PoolShape& s, Index i, F f) {
  const Index plane = s.plane(), at = i % plane, first = i / plane * s.outputs();
  const PoolSpan d = pool_covering(s, 0, at / s.in[2] / s.in[1]),
                 h = pool_covering(s, 1, at / s.in[2] % s.in[1]),
                 w = pool_covering(s, 2, at % s.in[2]);
  for (Index a = d.first; a <= d.last; ++a)
    for (Index b = h.first; b <= h.last; ++b)
      for (Index c = w.first; c <= w.last; ++c) f(first + (a * s.result[1] + b) * s.result[2] + c);
}

template <class C>
__global__ void max_grad_items(PoolShape s, Reader<C> g, const Index* indices, Writer<C> out) {
  for (Index i = first_item(); i < s.planes * s.plane(); i += stride()) {
    const Index at = i % s.plane();
    C sum = 0;
    each_covering(s, i, [&](Index o) {
      if (indices[o] == at) sum += g[o];
    });
    out.set(i, sum);
  }
}

__global__ void max_2x2_grad_items(PoolShape s, const float* g, const std::uint8_t* codes,
                                   float* out) {
  const Index size = s.outputs(), plane = s.plane();
  for (Index i = first_item(); i < s.planes * plane; i += stride()) {
    const Index h = i % plane / s.in[2], w = i % s.in[2];
    const bool inside = h / 2 < s.result[1] && w / 2 < s.result[2];  // an odd edge is in no window
    const Index o = i / plane * size + h / 2 * s.result[2] + w / 2;
    out[i] = inside && codes[o] == h % 2 * 2 + w % 2 ? g[o] : 0.f;
  }
}

template <class S>
__global__ void gather_items(PoolShape s, const S* x, const Index* indices, S* out, Note* note) {
  const Index size = s.outputs(), plane = s.plane();
  for (Index o = first_item(); o < s.planes * size; o += stride())
    out[o] = x[o / size * plane + checked_index(note, Noted::pool, indices[o], plane)];
}

// out is zero. Where two indices are equal, one of their values is kept.
template <class S>
__global__ void unpool_items(PoolShape s, const S* x, const Index* indices, S* out, Note* note) {
  const Index size = s.outputs(), plane = s.plane();
  for (Index o = first_item(); o < s.planes * size; o += stride())
    out[o / size * plane + checked_index(note, Noted::pool, indices[o], plane)] = x[o];
}

template <class C>
__global__ void average_items(PoolShape s, Reader<C> x, Writer<C> y) {
  const Index size = s.outputs();
  for (Index o = first_item(); o < s.planes * size; o += stride()) {
    const Index plane = o / size * s.plane();
    const Windows at(s, o % size);
    C sum = 0;
    for (Index i = at.d.begin; i < at.d.end; ++i)
      for (Index j = at.h.begin; j < at.h.end; ++j)
        for (Index k = at.w.begin; k < at.w.end; ++k)
          sum += x[plane + (i * s.in[1] + j) * s.in[2] + k];
    y.set(o, at.empty() ? C(0) : sum / C(pool_divisor(s, at.d, at.h, at.w)));
  }
}

template <class C>
__global__ void average_grad_items(PoolShape s, Reader<C> g, Writer<C> out) {
  const Index size = s.outputs();
  for (Index i = first_item(); i < s.planes * s.plane(); i += stride()) {
    const Index at = i % s.plane(), d = at / s.in[2] / s.in[1], h = at / s.in[2] % s.in[1],
                w = at % s.in[2];
    C sum = 0;
    each_covering(s, i, [&](Index o) {
      const Windows in(s, o % size);
      if (d >= in.d.begin && d < in.d.end && h >= in.h.begin && h < in.h.end && w >= in.w.begin &&
          w < in.w.end)
        sum += g[o] / C(pool_divisor(s, in.d, in.h, in.w));
    });
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

Index max_backward(const PoolShape& s, const View& grad, const View& indices,
                   const View& grad_input) {
  compute_floating(grad.dtype, [&]<class C>(Type<C>) {
    launch_items("max_pool_backward", max_grad_items<C>, grad_input.numel, s, Reader<C>(grad),
                 indices.as<const Index>(), Writer<C>(grad_input));
  });
  return -1;
}

Index max_gather(const PoolShape& s, const View& input, const View& indices, const View& out) {
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

void fractional_max(const PoolShape& s, int rank, const View& input, const View& samples,
                    const View& out, const View& indices) {
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("fractional_max_pool", fractional_items<C>, out.numel, s, rank, Reader<C>(input),
                 Reader<C>(samples), Writer<C>(out), indices.as<Index>());
  });
}

Index unpool(const PoolShape& s, const View& input, const View& indices, const View& out) {
  check(
      cudaMemsetAsync(out.data, 0, std::size_t(out.numel) * item_size(out.dtype), current().stream),
      "max_unpool");
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("max_unpool", unpool_items<S>, input.numel, s, input.as<const S>(),
                 indices.as<const Index>(), out.as<S>(), current().note);
  });
  return -1;
}

}  // namespace

const PoolKernels pool_kernels = {
    .max = max_pool,
    .max_backward = max_backward,
    .max_gather = max_gather,
    .max_2x2_backward = max_2x2_backward,
    .average = average,
    .average_backward = average_backward,
    .fractional_max = fractional_max,
    .unpool = unpool,
};

}  // namespace rushlight::gpu
