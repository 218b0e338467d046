// Distances between rows. cdist: a block takes a tile of pairs and reads both matrices through
// shared memory; pdist: a thread a pair; gradients: a thread an element, so that nothing is added
// by atomics and the sums are deterministic.
#include "../distance.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kPairTile = 16;

struct Strides3 {
  Index of[3];
  Strides3(const View& v) : of{v.strides[0], v.strides[1], v.strides[2]} {}
  __device__ Index at(Index b, Index i, Index j) const { return b * of[0] + i * of[1] + j * of[2]; }
};

template <class C, class Norm>
__global__ void between_tiles(Index batches, Index n, Index m, Index d, Writer<C> out,
                              Strides3 out_strides, Reader<C> x, Reader<C> y, Norm norm) {
  C* const rows = shared_memory<C>();  // of x, then of y; a column more against bank conflicts
  C* const others = rows + kPairTile * (kPairTile + 1);
  const Index down = (n + kPairTile - 1) / kPairTile, across = (m + kPairTile - 1) / kPairTile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (Index tile = blockIdx.x; tile < batches * down * across; tile += gridDim.x) {
    const Index b = tile / (down * across), first = tile / across % down * kPairTile,
                other = tile % across * kPairTile;
    C sum = 0;
    for (Index k = 0; k < d; k += kPairTile) {
      const bool inside = k + tx < d;
      rows[ty * (kPairTile + 1) + tx] =
          inside && first + ty < n ? x[(b * n + first + ty) * d + k + tx] : C(0);
      others[ty * (kPairTile + 1) + tx] =
          inside && other + ty < m ? y[(b * m + other + ty) * d + k + tx] : C(0);
      __syncthreads();
      const int width = int(d - k < kPairTile ? d - k : kPairTile);
      for (int c = 0; c < width; ++c)
        sum = norm.add(sum,
                       abs(C(rows[ty * (kPairTile + 1) + c] - others[tx * (kPairTile + 1) + c])));
      __syncthreads();
    }
    if (first + ty < n && other + tx < m)
      out.set(out_strides.at(b, first + ty, other + tx), norm.finish(sum));
  }
}

template <class C, class Norm>
__global__ void between_slopes(Index batches, Index n, Index m, Index d, Writer<C> gx, Reader<C> g,
                               Strides3 g_strides, Reader<C> distances, Strides3 strides,
                               Reader<C> x, Reader<C> y, Norm norm) {
  for (Index item = first_item(); item < batches * n * d; item += stride()) {
    const Index row = item / d, k = item % d, b = row / n, i = row % n;
    const C own = x[item];
    C sum = 0;
    for (Index j = 0; j < m; ++j)
      sum += g[g_strides.at(b, i, j)] *
             norm.slope(C(own - y[(b * m + j) * d + k]), distances[strides.at(b, i, j)]);
    gx.set(item, sum);
  }
}

template <class C, class Norm>
__global__ void pair_items(RowPairs all, Index count, Index d, Writer<C> out, Reader<C> x,
                           Norm norm) {
  for (Index item = first_item(); item < count; item += stride()) {
    Index i = 0, past = all.n;  // the last row with at most `item` pairs before its own
    while (past - i > 1) {
      const Index middle = i + (past - i) / 2;
      if (all.before(middle) <= item)
        i = middle;
      else
        past = middle;
    }
    const Index j = item - all.before(i) + i + 1;
    C sum = 0;
    for (Index k = 0; k < d; ++k) sum = norm.add(sum, abs(C(x[i * d + k] - x[j * d + k])));
    out.set(item, norm.finish(sum));
  }
}

template <class C, class Norm>
__global__ void pair_slopes(RowPairs all, Index d, Writer<C> gx, Reader<C> g, Reader<C> distances,
                            Reader<C> x, Norm norm) {
  for (Index item = first_item(); item < all.n * d; item += stride()) {
    const Index i = item / d, k = item % d;
    const C own = x[item];
    C sum = 0;
    for (Index j = 0; j < all.n; ++j) {
      if (j == i) continue;
      const Index at = all.at(i, j);
      sum += g[at] * norm.slope(C(own - x[j * d + k]), distances[at]);
    }
    gx.set(item, sum);
  }
}

void between(const View& out, const View& x, const View& y, double p) {
  const Index n = x.sizes[1], m = y.sizes[1];
  const Index tiles =
      x.sizes[0] * ((n + kPairTile - 1) / kPairTile) * ((m + kPairTile - 1) / kPairTile);
  if (tiles == 0) return;
  dispatch_norm(p, [&](auto norm) {
    compute_floating(x.dtype, [&]<class C>(Type<C>) {
      launch("cdist", between_tiles<C, decltype(norm)>, blocks_for(tiles, 1),
             dim3(kPairTile, kPairTile), 2 * kPairTile * (kPairTile + 1) * sizeof(C), x.sizes[0], n,
             m, x.sizes[2], Writer<C>(out), Strides3(out), Reader<C>(x), Reader<C>(y), norm);
    });
  });
}

void between_backward(const View& gx, const View& g, const View& distances, const View& x,
                      const View& y, double p) {
  dispatch_norm(p, [&](auto norm) {
    compute_floating(x.dtype, [&]<class C>(Type<C>) {
      launch_items("cdist", between_slopes<C, decltype(norm)>, x.numel, x.sizes[0], x.sizes[1],
                   y.sizes[1], x.sizes[2], Writer<C>(gx), Reader<C>(g), Strides3(g),
                   Reader<C>(distances), Strides3(distances), Reader<C>(x), Reader<C>(y), norm);
    });
  });
}

void pairs(const View& out, const View& x, double p) {
  dispatch_norm(p, [&](auto norm) {
    compute_floating(x.dtype, [&]<class C>(Type<C>) {
      launch_items("pdist", pair_items<C, decltype(norm)>, out.numel, RowPairs{x.sizes[0]},
                   out.numel, x.sizes[1], Writer<C>(out), Reader<C>(x), norm);
    });
  });
}

void pairs_backward(const View& gx, const View& g, const View& distances, const View& x, double p) {
  dispatch_norm(p, [&](auto norm) {
    compute_floating(x.dtype, [&]<class C>(Type<C>) {
      launch_items("pdist", pair_slopes<C, decltype(norm)>, x.numel, RowPairs{x.sizes[0]},
                   x.sizes[1], Writer<C>(gx), Reader<C>(g), Reader<C>(distances), Reader<C>(x),
                   norm);
    });
  });
}

}  // namespace

const DistanceKernels distance_kernels = {between, between_backward, pairs, pairs_backward};

}  // namespace rushlight::gpu
