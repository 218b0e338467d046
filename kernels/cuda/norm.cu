// Normalisation. Statistics: one block a channel (batch norm) or a group (group and layer norm),
// two passes, the mean first, then squared distances from it; the second reads from the cache.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// Element i of channel c among the n * plane of it.
__device__ Index in_channel(const NormShape& s, Index c, Index i) {
  return (i / s.plane * s.c + c) * s.plane + i % s.plane;
}

template <class C>
struct Moments {
  double mean, squares;  // squares: the sum of squared distances
};

// Of the elements offset_of(0 .. n), by all threads of a block; not `centered`, the mean is taken
// to be 0.
template <class C, class F>
__device__ Moments<C> block_moments(Index n, const Reader<C>& x, F offset_of, double* shared,
                                    bool centered = true) {
  C sum = 0, squares = 0;
  double mean = 0;
  if (centered) {
    for (Index i = threadIdx.x; i < n; i += blockDim.x) sum += x[offset_of(i)];
    mean = block_reduce(double(sum), Add(), shared) / double(n > 0 ? n : 1);
  }
  for (Index i = threadIdx.x; i < n; i += blockDim.x) {
    const C d = x[offset_of(i)] - C(mean);
    squares += d * d;
  }
  return {mean, block_reduce(double(squares), Add(), shared)};
}

template <class C>
__global__ void batch_norm_channels(NormShape s, Reader<C> x, Reader<C> weight, Reader<C> bias,
                                    C* running_mean, C* running_var, double momentum, double eps,
                                    C* mean, C* invstd, Writer<C> out) {
  const Index n = s.n * s.plane;
  for (Index c = blockIdx.x; c < s.c; c += gridDim.x) {
    const auto offset_of = [&](Index i) { return in_channel(s, c, i); };
    const Moments<C> m = block_moments(n, x, offset_of, shared_memory<double>());
    const C scale = C(1 / std::sqrt(m.squares / double(n > 0 ? n : 1) + eps));
    if (threadIdx.x == 0) {
      mean[c] = C(m.mean);
      invstd[c] = scale;
      if (running_mean)
        running_mean[c] = C((1 - momentum) * double(running_mean[c]) + momentum * m.mean);
      if (running_var)
        running_var[c] =
            C((1 - momentum) * double(running_var[c]) + momentum * m.squares / double(n - 1));
    }
    const C a = scale * weight.value_or(c, 1), b = bias.value_or(c, 0) - C(m.mean) * a;
    for (Index i = threadIdx.x; i < n; i += blockDim.x)
      out.set(offset_of(i), x[offset_of(i)] * a + b);
  }
}

template <class C>
__global__ void invert_deviation(Index n, Reader<C> variance, double eps, Writer<C> invstd) {
  for (Index i = first_item(); i < n; i += stride())
    invstd.set(i, C(1 / std::sqrt(double(variance[i]) + eps)));
}

template <class C>
__global__ void scale_items(NormShape s, Reader<C> x, Reader<C> weight, Reader<C> bias,
                            const C* mean, const C* invstd, Writer<C> out) {
  for (Index i = first_item(); i < s.n * s.c * s.plane; i += stride()) {
    const Index c = i / s.plane % s.c;
    const C a = invstd[c] * weight.value_or(c, 1);
    out.set(i, x[i] * a + (bias.value_or(c, 0) - mean[c] * a));
  }
}

template <class C>
__global__ void batch_norm_grad(NormShape s, Reader<C> g, Reader<C> x, Reader<C> weight,
                                const C* mean, const C* invstd, bool training, Writer<C> out,
                                C* grad_weight, C* grad_bias) {
  const Index n = s.n * s.plane;
  double* shared = shared_memory<double>();
  for (Index c = blockIdx.x; c < s.c; c += gridDim.x) {
    const C m = mean[c], scale = invstd[c];
    C sum = 0, product = 0;
    for (Index i = threadIdx.x; i < n; i += blockDim.x) {
      const Index at = in_channel(s, c, i);
      sum += g[at];
      product += g[at] * (x[at] - m);
    }
    const double all = block_reduce(double(sum), Add(), shared);
    const double products = block_reduce(double(product), Add(), shared);
    if (threadIdx.x == 0) {
      if (grad_weight) grad_weight[c] = C(products) * scale;
      if (grad_bias) grad_bias[c] = C(all);
    }
    if (!out) continue;
    const C a = scale * weight.value_or(c, 1), count = C(n > 0 ? n : 1);
    const C slope = training ? C(-products / double(count)) * scale * scale * a : C(0);
    const C offset = training ? -C(all / double(count)) * a : C(0);
    for (Index i = threadIdx.x; i < n; i += blockDim.x) {
      const Index at = in_channel(s, c, i);
      out.set(at, g[at] * a + (x[at] - m) * slope + offset);
    }
  }
}

// A row is a group of an image: c / groups channels of `plane` elements, one after another.
template <class C>
__global__ void group_norm_rows(NormShape s, Reader<C> x, Reader<C> weight, Reader<C> bias,
                                double eps, C* mean, C* invstd, Writer<C> out) {
  const Index channels = s.c / s.groups, row = channels * s.plane;
  for (Index r = blockIdx.x; r < s.n * s.groups; r += gridDim.x) {
    const auto offset_of = [&](Index i) { return r * row + i; };
    const Moments<C> m = block_moments(row, x, offset_of, shared_memory<double>(), s.centered);
    const C center = C(m.mean), scale = C(1 / std::sqrt(m.squares / double(row) + eps));
    if (threadIdx.x == 0) {
      mean[r] = center;
      invstd[r] = scale;
    }
    for (Index i = threadIdx.x; i < row; i += blockDim.x) {
      const Index c = r % s.groups * channels + i / s.plane;
      const C normal = (x[offset_of(i)] - center) * scale;
      out.set(offset_of(i), normal * weight.value_or(c, 1) + bias.value_or(c, 0));
    }
  }
}

template <class C>
__global__ void group_norm_grad(NormShape s, Reader<C> g, Reader<C> x, Reader<C> weight,
                                const C* mean, const C* invstd, Writer<C> out) {
  const Index channels = s.c / s.groups, row = channels * s.plane;
  double* shared = shared_memory<double>();
  for (Index r = blockIdx.x; r < s.n * s.groups; r += gridDim.x) {
    const C m = mean[r], scale = invstd[r];
    const Index first = r % s.groups * channels;
    C sum = 0, product = 0;
    for (Index i = threadIdx.x; i < row; i += blockDim.x) {
      const C weighted = g[r * row + i] * weight.value_or(first + i / s.plane, 1);
      sum += weighted;
      product += weighted * (x[r * row + i] - m);
    }
    const double all = block_reduce(double(sum), Add(), shared);
    const double products = block_reduce(double(product), Add(), shared);
    const C slope = C(-products / double(row)) * scale * scale * scale;
    const C offset = s.centered ? -C(all / double(row)) * scale : C(0);
    for (Index i = threadIdx.x; i < row; i += blockDim.x) {
      const C weighted = g[r * row + i] * weight.value_or(first + i / s.plane, 1);
      out.set(r * row + i, weighted * scale + (x[r * row + i] - m) * slope + offset);
    }
  }
}

// Of weight and bias: one block a channel.
template <class C>
__global__ void group_norm_parameters(NormShape s, Reader<C> g, Reader<C> x, const C* mean,
                                      const C* invstd, C* grad_weight, C* grad_bias) {
  double* shared = shared_memory<double>();
  const Index channels = s.c / s.groups;
  for (Index c = blockIdx.x; c < s.c; c += gridDim.x) {
    C weight = 0, bias = 0;
    for (Index i = threadIdx.x; i < s.n * s.plane; i += blockDim.x) {
      const Index at = in_channel(s, c, i), row = i / s.plane * s.groups + c / channels;
      weight += g[at] * (x[at] - mean[row]) * invstd[row];
      bias += g[at];
    }
    const double weights = block_reduce(double(weight), Add(), shared);
    const double biases = block_reduce(double(bias), Add(), shared);
    if (threadIdx.x != 0) continue;
    if (grad_weight) grad_weight[c] = C(weights);
    if (grad_bias) grad_bias[c] = C(biases);
  }
}

template <class C>
C* data_of(const View* v) {
  return v ? v->as<C>() : nullptr;
}

void batch_norm(const NormShape& s, const View& input, const View* weight, const View* bias,
                const View* running_mean, const View* running_var, double momentum, double eps,
                const View& mean, const View& invstd, const View& out) {
  if (s.c == 0) return;
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    launch("batch_norm", batch_norm_channels<C>, blocks_for(s.c, 1), threads_for(s.n * s.plane),
           reduce_bytes<double>(), s, Reader<C>(input), Reader<C>(weight), Reader<C>(bias),
           data_of<C>(running_mean), data_of<C>(running_var), momentum, eps, mean.as<C>(),
           invstd.as<C>(), Writer<C>(out));
  });
}

void inverse_deviation(const View& variance, double eps, const View& invstd) {
  compute_floating(variance.dtype, [&]<class C>(Type<C>) {
    launch_items("batch_norm", invert_deviation<C>, variance.numel, variance.numel,
                 Reader<C>(variance), eps, Writer<C>(invstd));
  });
}

void scale_channels(const NormShape& s, const View& input, const View* weight, const View* bias,
                    const View& mean, const View& invstd, const View& out) {
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    launch_items("batch_norm", scale_items<C>, out.numel, s, Reader<C>(input), Reader<C>(weight),
                 Reader<C>(bias), mean.as<const C>(), invstd.as<const C>(), Writer<C>(out));
  });
}

void batch_norm_backward(const NormShape& s, const View& grad, const View& input,
                         const View* weight, const View& mean, const View& invstd, bool training,
                         const View* grad_input, const View* grad_weight, const View* grad_bias) {
  if (s.c == 0) return;
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    launch("batch_norm_backward", batch_norm_grad<C>, blocks_for(s.c, 1),
           threads_for(s.n * s.plane), reduce_bytes<double>(), s, Reader<C>(grad), Reader<C>(input),
           Reader<C>(weight), mean.as<const C>(), invstd.as<const C>(), training,
           Writer<C>(grad_input), data_of<C>(grad_weight), data_of<C>(grad_bias));
  });
}

void group_norm(const NormShape& s, const View& input, const View* weight, const View* bias,
                double eps, const View& mean, const View& invstd, const View& out) {
  if (s.n * s.groups == 0) return;
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    launch("group_norm", group_norm_rows<C>, blocks_for(s.n * s.groups, 1),
           threads_for(s.c / s.groups * s.plane), reduce_bytes<double>(), s, Reader<C>(input),
           Reader<C>(weight), Reader<C>(bias), eps, mean.as<C>(), invstd.as<C>(), Writer<C>(out));
  });
}

void group_norm_backward(const NormShape& s, const View& grad, const View& input,
                         const View* weight, const View& mean, const View& invstd,
                         const View* grad_input, const View* grad_weight, const View* grad_bias) {
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    const Reader<C> g(grad), x(input);
    if (grad_input && s.n * s.groups > 0)
      launch("group_norm_backward", group_norm_grad<C>, blocks_for(s.n * s.groups, 1),
             threads_for(s.c / s.groups * s.plane), reduce_bytes<double>(), s, g, x,
             Reader<C>(weight), mean.as<const C>(), invstd.as<const C>(), Writer<C>(grad_input));
    if ((grad_weight || grad_bias) && s.c > 0)
      launch("group_norm_backward", group_norm_parameters<C>, blocks_for(s.c, 1),
             threads_for(s.n * s.plane), reduce_bytes<double>(), s, g, x, mean.as<const C>(),
             invstd.as<const C>(), data_of<C>(grad_weight), data_of<C>(grad_bias));
  });
}

}  // namespace

const NormKernels norm_kernels = {batch_norm,          inverse_deviation, scale_channels,
                                  batch_norm_backward, group_norm,        group_norm_backward};

}  // namespace rushlight::gpu
