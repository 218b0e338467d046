// Counts of whole numbers, and of values in equal parts of a range.
#include "elements.h"
#include "kernels/cuda/sort/sort.h"

namespace rushlight::gpu {
namespace {

// One thread a bin: amounts are added in their order.
template <class C>
__global__ void count_bins(Index bins, Index n, const Index* in, Index step, Reader<C> weights,
                           Index weight_step, Writer<C> out) {
  for (Index b = first_item(); b < bins; b += stride()) {
    C sum = 0;
    for (Index i = 0; i < n; ++i)
      if (in[i * step] == b) sum += weights.value_or(i * weight_step, 1);
    out.set(b, sum);
  }
}
__global__ void count_ones(Index n, const Index* in, Index step, unsigned long long* out) {
  for (Index i = first_item(); i < n; i += stride()) atomicAdd(out + in[i * step], 1ull);
}

template <class C>
__global__ void histogram_items(Index n, Reader<C> in, Index step, Index bins, double low,
                                double high, unsigned long long* counts) {
  const C from = C(low), to = C(high);
  for (Index i = first_item(); i < n; i += stride()) {
    const C x = in[i * step];
    if (!(x >= from && x <= to)) continue;
    const Index bin = Index((x - from) * C(bins) / (to - from));
    atomicAdd(counts + (bin < 0 ? 0 : bin >= bins ? bins - 1 : bin), 1ull);
  }
}
template <class C>
__global__ void write_counts(Index bins, const unsigned long long* counts, Writer<C> out,
                             Index step) {
  for (Index b = first_item(); b < bins; b += stride()) out.set(b * step, C(counts[b]));
}

}  // namespace

void count(const View& out, const View& in, const View* weights) {
  const Index n = in.numel, step = in.rank ? in.strides[0] : 1;
  if (!weights) {
    check(cudaMemsetAsync(out.data, 0, std::size_t(out.numel) * sizeof(Index), current().stream),
          "bincount");
    return launch_items("bincount", count_ones, n, n, in.as<const Index>(), step,
                        out.as<unsigned long long>());
  }
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("bincount", count_bins<C>, out.numel, out.numel, n, in.as<const Index>(), step,
                 Reader<C>(weights), weights->rank ? weights->strides[0] : 1, Writer<C>(out));
  });
}

void histogram(const View& out, const View& in, double low, double high) {
  const Index bins = out.numel;
  const Scratch<unsigned long long> counts(bins, "histc");
  check(cudaMemsetAsync(counts.data(), 0, std::size_t(bins) * 8, current().stream), "histc");
  compute_floating(in.dtype, [&]<class C>(Type<C>) {
    launch_items("histc", histogram_items<C>, in.numel, in.numel, Reader<C>(in),
                 in.rank ? in.strides[0] : 1, bins, low, high, counts.data());
    launch_items("histc", write_counts<C>, bins, bins,
                 static_cast<const unsigned long long*>(counts.data()), Writer<C>(out),
                 out.rank ? out.strides[0] : 1);
  });
}

}  // namespace rushlight::gpu
