// Softmax and its logarithm. One block a row of (outer, inner), which its threads read with the
// stride of the block. The row is read three times, from the cache after the first.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class C>
__global__ void softmax_rows(SoftmaxShape s, Reader<C> x, bool logarithm, Writer<C> y) {
  C* shared = shared_memory<C>();
  for (Index row = blockIdx.x; row < s.outer * s.inner; row += gridDim.x) {
    const Index first = row / s.inner * s.dim * s.inner + row % s.inner;
    C top = -std::numeric_limits<C>::infinity();
    for (Index i = threadIdx.x; i < s.dim; i += blockDim.x)
      top = Larger()(top, x[first + i * s.inner]);
    top = block_reduce(top, Larger(), shared);
    C sum = 0;
    for (Index i = threadIdx.x; i < s.dim; i += blockDim.x)
      sum += std::exp(x[first + i * s.inner] - top);
    sum = block_reduce(sum, Add(), shared);
    const C last = logarithm ? std::log(sum) : C(1) / sum;
    for (Index i = threadIdx.x; i < s.dim; i += blockDim.x) {
      const Index at = first + i * s.inner;
      const C v = x[at] - top;
      y.set(at, logarithm ? v - last : std::exp(v) * last);
    }
  }
}

template <class C>
__global__ void softmax_grad_rows(SoftmaxShape s, Reader<C> g, Reader<C> y, bool logarithm,
                                  Writer<C> out) {
  C* shared = shared_memory<C>();
  for (Index row = blockIdx.x; row < s.outer * s.inner; row += gridDim.x) {
    const Index first = row / s.inner * s.dim * s.inner + row % s.inner;
    C sum = 0;
    for (Index i = threadIdx.x; i < s.dim; i += blockDim.x) {
      const Index at = first + i * s.inner;
      sum += logarithm ? g[at] : g[at] * y[at];
    }
    sum = block_reduce(sum, Add(), shared);
    for (Index i = threadIdx.x; i < s.dim; i += blockDim.x) {
      const Index at = first + i * s.inner;
      out.set(at, logarithm ? g[at] - std::exp(y[at]) * sum : y[at] * (g[at] - sum));
    }
  }
}

void softmax(const SoftmaxShape& s, const View& input, bool logarithm, const View& out) {
  if (out.numel == 0) return;
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch("softmax", softmax_rows<C>, blocks_for(s.outer * s.inner, 1), threads_for(s.dim),
           reduce_bytes<C>(), s, Reader<C>(input), logarithm, Writer<C>(out));
  });
}

void softmax_backward(const SoftmaxShape& s, const View& grad, const View& output, bool logarithm,
                      const View& grad_input) {
  if (grad_input.numel == 0) return;
  compute_floating(grad_input.dtype, [&]<class C>(Type<C>) {
    launch("softmax_backward", softmax_grad_rows<C>, blocks_for(s.outer * s.inner, 1),
           threads_for(s.dim), reduce_bytes<C>(), s, Reader<C>(grad), Reader<C>(output), logarithm,
           Writer<C>(grad_input));
  });
}

}  // namespace

const SoftmaxKernels softmax_kernels = {softmax, softmax_backward};

}  // namespace rushlight::gpu
