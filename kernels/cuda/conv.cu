// Convolution: cuDNN's where it is there and takes the shape, else plain kernels of ours. Forward
// and the gradient of the input: a thread a result, which walks the channels of its group and the
// kernel's taps. The gradient of the weight: a block for each of its elements, summed over images
// and positions in a fixed order.
#include "elements.h"
#include "families.h"
#include "nvidia/convolutions.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

struct Coordinates {
  Index of[3];
};
__device__ Coordinates coordinates_of(Index i, const Index* sizes) {
  return {{i / (sizes[1] * sizes[2]), i / sizes[2] % sizes[1], i % sizes[2]}};
}
__device__ Index volume(const Index* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// The input's index under result `r` and tap `k`; -1 in the padding.
__device__ Index input_at(const ConvShape& s, const Coordinates& r, const Coordinates& k) {
  Index at = 0;
  for (int d = 0; d < 3; ++d) {
    const Index i = r.of[d] * s.stride[d] - s.padding[d] + k.of[d] * s.dilation[d];
    if (i < 0 || i >= s.in[d]) return -1;
    at = at * s.in[d] + i;
  }
  return at;
}
// The result's index that reads input `i` at tap `k`; -1 if none does.
__device__ Index result_at(const ConvShape& s, const Coordinates& i, const Coordinates& k) {
  Index at = 0;
  for (int d = 0; d < 3; ++d) {
    const Index reach = i.of[d] + s.padding[d] - k.of[d] * s.dilation[d];
    if (reach < 0 || reach % s.stride[d] != 0 || reach / s.stride[d] >= s.result[d]) return -1;
    at = at * s.result[d] + reach / s.stride[d];
  }
  return at;
}

template <class C>
__global__ void conv_items(ConvShape s, Reader<C> x, Reader<C> weight, Reader<C> bias,
                           Writer<C> out) {
  const Index size = volume(s.result), image = volume(s.in), taps = volume(s.kernel);
  const Index channels = s.c / s.groups, outs = s.out / s.groups;
  for (Index o = first_item(); o < s.n * s.out * size; o += stride()) {
    const Coordinates r = coordinates_of(o % size, s.result);
    const Index n = o / size / s.out, to = o / size % s.out, group = to / outs;
    C sum = bias.value_or(to, 0);
    for (Index k = 0; k < taps; ++k) {
      const Index at = input_at(s, r, coordinates_of(k, s.kernel));
      if (at < 0) continue;
      for (Index c = 0; c < channels; ++c)
        sum += x[(n * s.c + group * channels + c) * image + at] *
               weight[(to * channels + c) * taps + k];
    }
    out.set(o, sum);
  }
}

template <class C>
__global__ void conv_input_items(ConvShape s, Reader<C> g, Reader<C> weight, Reader<C> bias,
                                 Writer<C> out) {
  const Index size = volume(s.result), image = volume(s.in), taps = volume(s.kernel);
  const Index channels = s.c / s.groups, outs = s.out / s.groups;
  for (Index i = first_item(); i < s.n * s.c * image; i += stride()) {
    const Coordinates at_input = coordinates_of(i % image, s.in);
    const Index n = i / image / s.c, c = i / image % s.c, group = c / channels;
    C sum = bias.value_or(c, 0);
    for (Index k = 0; k < taps; ++k) {
      const Index at = result_at(s, at_input, coordinates_of(k, s.kernel));
      if (at < 0) continue;
      for (Index to = group * outs; to < (group + 1) * outs; ++to)
        sum += g[(n * s.out + to) * size + at] * weight[(to * channels + c % channels) * taps + k];
    }
    out.set(i, sum);
  }
}

template <class C>
__global__ void conv_weight_blocks(ConvShape s, Reader<C> x, Reader<C> g, Writer<C> out) {
  const Index size = volume(s.result), image = volume(s.in), taps = volume(s.kernel);
  const Index channels = s.c / s.groups, outs = s.out / s.groups;
  double* shared = shared_memory<double>();
  for (Index w = blockIdx.x; w < s.out * channels * taps; w += gridDim.x) {
    const Coordinates k = coordinates_of(w % taps, s.kernel);
    const Index to = w / taps / channels, c = to / outs * channels + w / taps % channels;
    C sum = 0;
    for (Index i = threadIdx.x; i < s.n * size; i += blockDim.x) {
      const Index n = i / size, at = input_at(s, coordinates_of(i % size, s.result), k);
      if (at >= 0) sum += x[(n * s.c + c) * image + at] * g[(n * s.out + to) * size + i % size];
    }
    const double total = block_reduce(double(sum), Add(), shared);
    if (threadIdx.x == 0) out.set(w, C(total));
  }
}

template <class C>
__global__ void add_bias(Index channels, Index size, Index n, Reader<C> bias, Reader<C> sums,
                         Writer<C> out) {
  for (Index i = first_item(); i < n; i += stride())
    out.set(i, sums[i] + bias[i / size % channels]);
}
// To a result of `channels`, contiguous.
void add_bias_to(const View& out, Index channels, const View* bias) {
  if (!bias) return;
  const Index size = out.numel / out.sizes[0] / channels;
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("convolution", add_bias<C>, out.numel, channels, size, out.numel, Reader<C>(bias),
                 Reader<C>(out), Writer<C>(out));
  });
}

void forward(const ConvShape& s, const View& input, const View& weight, const View* bias,
             const View& out) {
  if (convolve_by_library(s, input, weight, out)) return add_bias_to(out, s.out, bias);
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("convolution", conv_items<C>, out.numel, s, Reader<C>(input), Reader<C>(weight),
                 Reader<C>(bias), Writer<C>(out));
  });
}

void grad_input(const ConvShape& s, const View& grad, const View& weight, const View* bias,
                const View& out) {
  if (convolve_input_by_library(s, grad, weight, out)) return add_bias_to(out, s.c, bias);
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("convolution_backward", conv_input_items<C>, out.numel, s, Reader<C>(grad),
                 Reader<C>(weight), Reader<C>(bias), Writer<C>(out));
  });
}

void grad_weight(const ConvShape& s, const View& input, const View& grad, const View& out) {
  if (out.numel == 0 || convolve_weight_by_library(s, input, grad, out)) return;
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch("convolution_backward", conv_weight_blocks<C>, blocks_for(out.numel, 1),
           threads_for(grad.numel / s.out), reduce_bytes<double>(), s, Reader<C>(input),
           Reader<C>(grad), Writer<C>(out));
  });
}

}  // namespace

const ConvKernels conv_kernels = {forward, grad_input, grad_weight};

}  // namespace rushlight::gpu
