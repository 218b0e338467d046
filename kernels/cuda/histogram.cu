// Counts of integers, and of values in equal parts of a range. Weights are added up in their
// order: values are sorted first (sort/runs.h), so that the sums are deterministic.
#include "elements.h"
#include "kernels/cuda/sort/runs.h"
#include "kernels/cuda/sort/sort.h"

namespace rushlight::gpu {
namespace {

// The bin of element i. It was checked; changed since then, it counts in none, which `bins` says.
struct BinOf {
  Reader<Index> in;
  Index step, bins;
  __device__ Index operator()(Index i) const {
    const Index bin = in[i * step];
    return bin >= 0 && bin < bins ? bin : bins;
  }
};
__global__ void count_ones(Index n, BinOf bin_of, unsigned long long* out) {
  for (Index i = first_item(); i < n; i += stride())
    if (const Index bin = bin_of(i); bin < bin_of.bins) atomicAdd(out + bin, 1ull);
}
template <class C>
struct PutInBin {
  Writer<C> out;
  Index bins;
  __device__ void operator()(const Runs& runs, Index first, Index, C sum) const {
    if (const auto bin = Index(runs.keys[first]); bin < bins) out.set(bin, sum);
  }
};

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
  const Index n = in.numel, step = in.rank ? in.strides[0] : 1, bins = out.numel;
  check(cudaMemsetAsync(out.data, 0, std::size_t(bins) * item_size(out.dtype), current().stream),
        "bincount");
  const BinOf bin_of = {Reader<Index>(in), step, bins};
  if (!weights)
    return launch_items("bincount", count_ones, n, n, bin_of, out.as<unsigned long long>());
  const SortedKeys sorted("bincount", n, bin_of, bins + 1);
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    const Sums<C, PutInBin<C>> amounts = {
        *weights, weights->rank ? weights->strides[0] : 1, {out, bins}};
    fold_all_runs("bincount", sorted.runs(), amounts, 1, C(0));
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
