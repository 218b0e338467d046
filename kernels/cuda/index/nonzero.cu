// Where a tensor is not zero: tiles are counted, their counts summed, and each tile then writes its
// positions behind those of the tiles before it.
#include "kernels.h"
#include "kernels/cuda/running_sums.h"

namespace rushlight::gpu {
namespace {

// Of a tile of the input: how many are not zero.
constexpr Index kNonzeroTile = 2048;
template <class C>
__global__ void count_tiles(Strided<1> items, Reader<C> in, Index* counts) {
  Index found = 0;
  const Index begin = Index(blockIdx.x) * kNonzeroTile;
  for (Index i = begin + threadIdx.x; i < begin + kNonzeroTile && i < items.numel;
       i += blockDim.x) {
    Index at[1];
    items.at(i, at);
    found += in[at[0]] != C(0);
  }
  found = block_reduce(found, Add(), shared_memory<Index>());
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

// A warp walks its tile in order, 32 elements at a time; counts: running totals of the tiles.
template <class C>
__global__ void write_positions(Strided<1> items, Reader<C> in, const Index* counts, Index* out,
                                Index rows, Index row_step, Index column_step, int rank,
                                Strided<1> shape) {
  unsigned* shared = shared_memory<unsigned>();
  Index row = blockIdx.x > 0 ? counts[blockIdx.x - 1] : 0;
  const Index begin = Index(blockIdx.x) * kNonzeroTile;
  for (Index base = begin; base < begin + kNonzeroTile && base < items.numel; base += kWarp) {
    const Index i = base + threadIdx.x;
    Index at[1] = {0};
    bool found = false;
    if (i < items.numel) {
      items.at(i, at);
      found = in[at[0]] != C(0);
    }
    shared[threadIdx.x] = found;
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int t = 0; t < kWarp; ++t) {
      before += t < int(threadIdx.x) ? shared[t] : 0;
      all += shared[t];
    }
    __syncthreads();
    if (found && row + before < rows) {
      Index rest = i;
      for (int d = 0; d < rank; ++d) {  // shape: sizes as they are, innermost first
        out[(row + before) * row_step + (rank - 1 - d) * column_step] = rest % shape.sizes[d];
        rest /= shape.sizes[d];
      }
    }
    row += all;
  }
}

Strided<1> items_of(const View& in) {
  Strided<1> items;
  for (int d = in.rank - 1; d >= 0; --d) items.add(in.sizes[d], in.strides[d]);
  return items;
}

Index tiles_of(const View& in) { return (in.numel + kNonzeroTile - 1) / kNonzeroTile; }
// Running totals of the tiles.
void count_in_tiles(const View& in, const Strided<1>& items, Index* counts) {
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("nonzero", count_tiles<C>, unsigned(tiles_of(in)), kThreads, reduce_bytes<Index>(),
           items, Reader<C>(in), counts);
  });
  running_sums(counts, tiles_of(in));
}

}  // namespace

Index index_count_nonzero(const View& in) {
  if (in.numel == 0) return 0;
  const Scratch<Index> counts(tiles_of(in), "nonzero");
  count_in_tiles(in, items_of(in), counts.data());
  return fetch(counts.data() + tiles_of(in) - 1, "nonzero");
}

Index index_nonzero(const View& out, const View& in) {
  if (out.numel == 0) return out.sizes[0];
  const Strided<1> items = items_of(in);
  const Scratch<Index> counts(tiles_of(in), "nonzero");
  count_in_tiles(in, items, counts.data());
  Strided<1> shape;
  for (int d = 0; d < in.rank; ++d) shape.sizes[d] = in.sizes[in.rank - 1 - d];
  // Another thread may have changed the input since it was counted.
  check(cudaMemsetAsync(out.data, 0, std::size_t(out.numel) * sizeof(Index), current().stream),
        "nonzero");
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("nonzero", write_positions<C>, unsigned(tiles_of(in)), kWarp, kWarp * sizeof(unsigned),
           items, Reader<C>(in), static_cast<const Index*>(counts.data()), out.as<Index>(),
           out.sizes[0], out.strides[0], out.strides[1], in.rank, shape);
  });
  return out.sizes[0];
}

}  // namespace rushlight::gpu
