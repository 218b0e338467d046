// Resampling: first a small kernel writes the taps of each axis, then a thread makes an output of
// the taps of its axes. The gradient finds by bisection which outputs an input went to, so that
// nothing is added by two threads.
#include "../resample.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// The taps of an axis in device memory: weights[k * out + q] of output q.
template <class C>
struct Axis {
  const Index *first, *count;
  const C* weights;
  Index in, out;

  __device__ Index index(Index q, Index k) const {
    const Index at = first[q] + k;
    return at < 0 ? 0 : at < in ? at : in - 1;
  }
  // The least output whose last tap is at `at` or behind it, and the one behind the last whose
  // first tap is at `at` or before it.
  __device__ Index begin(Index at) const {
    Index low = 0, high = out;
    while (low < high) {
      const Index q = (low + high) / 2;
      if (index(q, count[q] - 1) < at)
        low = q + 1;
      else
        high = q;
    }
    return low;
  }
  __device__ Index end(Index at) const {
    Index low = 0, high = out;
    while (low < high) {
      const Index q = (low + high) / 2;
      if (index(q, 0) <= at)
        low = q + 1;
      else
        high = q;
    }
    return low;
  }
  // The share of input `at` in output q.
  __device__ C weight(Index q, Index at) const {
    C sum = 0;
    for (Index k = 0; k < count[q]; ++k)
      if (index(q, k) == at) sum += weights[k * out + q];
    return sum;
  }
};

template <class C>
__global__ void write_taps(ResampleShape s, int axis, Index* first, Index* count, C* weights) {
  for (Index q = first_item(); q < s.out[axis]; q += stride()) {
    const Taps t = resample_taps(s, axis, q, weights + q, s.out[axis]);
    first[q] = t.first;
    count[q] = t.count;
  }
}

template <class C>
__global__ void forward_items(Axis<C> d, Axis<C> h, Axis<C> w, Index items, Reader<C> x,
                              Writer<C> y) {
  for (Index i = first_item(); i < items; i += stride()) {
    const Index qw = i % w.out, qh = i / w.out % h.out, qd = i / w.out / h.out % d.out,
                plane = i / w.out / h.out / d.out;
    C sum = 0;
    for (Index a = 0; a < d.count[qd]; ++a) {
      C slice = 0;
      for (Index b = 0; b < h.count[qh]; ++b) {
        const Index row = ((plane * d.in + d.index(qd, a)) * h.in + h.index(qh, b)) * w.in;
        C line = 0;
        for (Index c = 0; c < w.count[qw]; ++c)
          line += w.weights[c * w.out + qw] * x[row + w.index(qw, c)];
        slice += h.weights[b * h.out + qh] * line;
      }
      sum += d.weights[a * d.out + qd] * slice;
    }
    y.set(i, sum);
  }
}

__global__ void forward_bytes(Axis<float> d, Axis<float> h, Axis<float> w, Index items,
                              const std::uint8_t* x, std::uint8_t* y) {
  for (Index i = first_item(); i < items; i += stride()) {
    const Index qw = i % w.out, qh = i / w.out % h.out, qd = i / w.out / h.out % d.out,
                plane = i / w.out / h.out / d.out;
    float sum = 0;
    for (Index a = 0; a < d.count[qd]; ++a)
      for (Index b = 0; b < h.count[qh]; ++b) {
        const Index row = ((plane * d.in + d.index(qd, a)) * h.in + h.index(qh, b)) * w.in;
        float line = 0;
        for (Index c = 0; c < w.count[qw]; ++c)
          line += w.weights[c * w.out + qw] * float(x[row + w.index(qw, c)]);
        sum += d.weights[a * d.out + qd] * h.weights[b * h.out + qh] * line;
      }
    sum = round(sum);
    y[i] = std::uint8_t(sum > 0 ? (sum < 255 ? sum : 255.f) : 0.f);
  }
}

template <class C>
__global__ void backward_items(Axis<C> d, Axis<C> h, Axis<C> w, Index items, Reader<C> g,
                               Writer<C> out) {
  for (Index i = first_item(); i < items; i += stride()) {
    const Index aw = i % w.in, ah = i / w.in % h.in, ad = i / w.in / h.in % d.in,
                plane = i / w.in / h.in / d.in, end_d = d.end(ad), end_h = h.end(ah),
                begin_h = h.begin(ah), begin_w = w.begin(aw), end_w = w.end(aw);
    C sum = 0;
    for (Index a = d.begin(ad); a < end_d; ++a) {
      const C by_d = d.weight(a, ad);
      for (Index b = begin_h; b < end_h; ++b) {
        const C by_h = by_d * h.weight(b, ah);
        const Index row = ((plane * d.out + a) * h.out + b) * w.out;
        for (Index c = begin_w; c < end_w && by_h != 0; ++c) {
          const C by_w = w.weight(c, aw);
          if (by_w != 0) sum += by_h * by_w * g[row + c];
        }
      }
    }
    out.set(i, sum);
  }
}

// Calls f(the three axes), whose taps live as long as the call.
template <class C, class F>
void with_axes(const ResampleShape& s, F f) {
  Index outs = 0, weights = 0;
  for (int axis = 0; axis < 3; ++axis) {
    outs += s.out[axis];
    weights += s.out[axis] * s.taps(axis);
  }
  const Scratch<Index> lists(2 * outs, "interpolate");
  const Scratch<C> shares(weights, "interpolate");
  Index* list = lists.data();
  C* share = shares.data();
  Axis<C> axes[3];
  for (int axis = 0; axis < 3; ++axis) {
    const Index n = s.out[axis];
    launch_items("interpolate", write_taps<C>, n, s, axis, list, list + n, share);
    axes[axis] = {list, list + n, share, s.in[axis], n};
    list += 2 * n;
    share += n * s.taps(axis);
  }
  f(axes[0], axes[1], axes[2]);
}

void forward(const ResampleShape& s, const View& input, const View& out) {
  if (out.dtype == DType::uint8)
    return with_axes<float>(s, [&](auto d, auto h, auto w) {
      launch_items("interpolate", forward_bytes, out.numel, d, h, w, out.numel,
                   input.as<const std::uint8_t>(), out.as<std::uint8_t>());
    });
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    with_axes<C>(s, [&](auto d, auto h, auto w) {
      launch_items("interpolate", forward_items<C>, out.numel, d, h, w, out.numel, Reader<C>(input),
                   Writer<C>(out));
    });
  });
}

void backward(const ResampleShape& s, const View& grad, const View& grad_input) {
  compute_floating(grad.dtype, [&]<class C>(Type<C>) {
    with_axes<C>(s, [&](auto d, auto h, auto w) {
      launch_items("interpolate_backward", backward_items<C>, grad_input.numel, d, h, w,
                   grad_input.numel, Reader<C>(grad), Writer<C>(grad_input));
    });
  });
}

}  // namespace

const ResampleKernels resample_kernels = {forward, backward};

}  // namespace rushlight::gpu
