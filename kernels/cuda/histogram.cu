// Counts of whole numbers, and of values in equal parts of a range. Weights are added up in their
// order: numbers are sorted first (sort/runs.h), so that sums do not depend on chance.
#include "elements.h"
#include "kernels/cuda/sort/runs.h"
#include "kernels/cuda/sort/sort.h"

namespace rushlight::gpu {
namespace {

// The bin of element i. It was checked; changed since then, it counts in none, which `bins` says.
__device__ inline Index bin_of(const Index* in, Index i, Index step, Index bins) {
  const Index bin = in[i * step];
  return bin >= 0 && bin < bins ? bin : bins;
}
__global__ void count_ones(Index n, const Index* in, Index step, Index bins,
                           unsigned long long* out) {
  for (Index i = first_item(); i < n; i += stride())
    if (const Index bin = bin_of(in, i, step, bins); bin < bins) atomicAdd(out + bin, 1ull);
}
__global__ void number_bins(Index n, const Index* in, Index step, Index bins, std::uint64_t* keys,
                            Index* order) {
  for (Index i = first_item(); i < n; i += stride()) {
    keys[i] = std::uint64_t(bin_of(in, i, step, bins));
    order[i] = i;
  }
}
// The amounts of a bin.
template <class C>
struct Amounts {
  using Value = C;
  Reader<C> weights;
  Writer<C> out;
  Index step, bins;
  __device__ C start(Index, Index) const { return C(0); }
  __device__ C at(Index position, Index) const { return weights[position * step]; }
  __device__ C join(C a, C b) const { return a + b; }
  __device__ void put(const Runs& runs, Index first, Index, C sum) const {
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
  if (!weights)
    return launch_items("bincount", count_ones, n, n, in.as<const Index>(), step, bins,
                        out.as<unsigned long long>());
  const Scratch<std::uint64_t> keys(n, "bincount");
  const Scratch<Index> order(n, "bincount");
  launch_items("bincount", number_bins, n, n, in.as<const Index>(), step, bins, keys.data(),
               order.data());
  sort_pairs(keys.data(), order.data(), 1, n, bits_below(bins + 1));
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    const Amounts<C> amounts = {*weights, out, weights->rank ? weights->strides[0] : 1, bins};
    fold_all_runs("bincount", Runs(keys.data(), order.data(), n), amounts, 1, C(0));
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
