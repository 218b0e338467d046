// The first extreme of each row along one dimension, and its index: one block a row, or several
// where rows are few and long, whose findings another one joins.
#include "kernels.h"
#include "kernels/cuda/block_scan.h"

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

// What a part of a row comes to goes to `found`, or is the result where a row has one part.
template <class C>
__global__ void extreme_rows(Lines<3> rows, Parts parts, Reader<C> in, Found<C>* found,
                             Writer<C> values, Index* indices, bool largest) {
  for (Index job = blockIdx.x; job < parts.lines * parts.count; job += gridDim.x) {
    const Index part = job % parts.count;
    Index at[3];
    rows.starts.at(job / parts.count, at);
    const auto load = [&](Index i) { return Found<C>{in[at[0] + i * rows.step[0]], i}; };
    const Found<C> best = join_part(parts.begin(part), parts.end(part), Found<C>{C(0), -1}, load,
                                    First<C>{largest}, shared_memory<Found<C>>());
    if (threadIdx.x != 0) continue;
    if (parts.count > 1) {
      found[job] = best;
      continue;
    }
    values.set(at[1], best.value);
    indices[at[2]] = best.at;
  }
}
template <class C>
__global__ void join_extremes(Lines<3> rows, Parts parts, const Found<C>* found, Writer<C> values,
                              Index* indices, bool largest) {
  for (Index row = blockIdx.x; row < parts.lines; row += gridDim.x) {
    Index at[3];
    rows.starts.at(row, at);
    const auto load = [&](Index i) { return found[row * parts.count + i]; };
    const Found<C> best = join_part(Index(0), parts.count, Found<C>{C(0), -1}, load,
                                    First<C>{largest}, shared_memory<Found<C>>());
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
  const Parts parts(rows.starts.numel, rows.length);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    const Scratch<Found<C>> found(parts.count > 1 ? parts.lines * parts.count : 1, "extreme");
    launch("extreme", extreme_rows<C>, blocks_for(parts.lines * parts.count, 1),
           threads_for(parts.each), reduce_bytes<Found<C>>(), rows, parts, Reader<C>(in),
           found.data(), Writer<C>(values), indices.as<Index>(), largest);
    if (parts.count > 1)
      launch("extreme", join_extremes<C>, blocks_for(parts.lines, 1), threads_for(parts.count),
             reduce_bytes<Found<C>>(), rows, parts, static_cast<const Found<C>*>(found.data()),
             Writer<C>(values), indices.as<Index>(), largest);
  });
}

}  // namespace rushlight::gpu
