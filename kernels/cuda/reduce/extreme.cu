// The first extreme of each row along one dimension, and its index: one block a row.
#include "kernels.h"

namespace rushlight::gpu {
namespace {

// An extreme and its index: the first among equals, the first NaN before all.
template <class C>
struct Found {
  C value;
  Index at;  // -1: nothing yet
};
template <class C>
struct First {
  bool largest;
  __device__ Found<C> operator()(Found<C> a, Found<C> b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (reduction::beats(a.value, b.value, largest)) return a;
    if (reduction::beats(b.value, a.value, largest)) return b;
    return a.at < b.at ? a : b;
  }
};

template <class C>
__global__ void extreme_rows(Lines<3> rows, Reader<C> in, Writer<C> values, Index* indices,
                             bool largest) {
  const First<C> join = {largest};
  for (Index row = blockIdx.x; row < rows.starts.numel; row += gridDim.x) {
    Index at[3];
    rows.starts.at(row, at);
    Found<C> best = {C(0), -1};
    for (Index i = threadIdx.x; i < rows.length; i += blockDim.x)
      best = join(best, Found<C>{in[at[0] + i * rows.step[0]], i});
    best = block_reduce(best, join, shared_memory<Found<C>>());
    if (threadIdx.x != 0) continue;
    values.set(at[1], best.value);
    indices[at[2]] = best.at;
  }
}

}  // namespace

void reduce_extreme(bool largest, const View& values, const View& indices, const View& in,
                    int dim) {
  if (values.numel == 0) return;
  const Lines<3> rows(dim, in, values, indices);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("extreme", extreme_rows<C>, blocks_for(rows.starts.numel, 1), threads_for(rows.length),
           reduce_bytes<Found<C>>(), rows, Reader<C>(in), Writer<C>(values), indices.as<Index>(),
           largest);
  });
}

}  // namespace rushlight::gpu
