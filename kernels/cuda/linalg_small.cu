// Factorisations of matrices of up to 32 rows and columns: a warp for each, a lane for each row,
// all of a batch in one launch, the matrix in shared memory meanwhile. Results are those of
// LAPACK's unblocked routines, column by column.
#include "factors.h"
#include "launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kSide = kWarp, kStep = kSide + 1, kTeams = 4;  // matrices of a block

template <class T>
struct Batch {
  Index count;
  int m, n, k;  // rows, columns, reflections or pivots
  T* matrices;
};

// A warp's matrix; element (row, column). One that is turned is its own transpose.
template <class T>
struct Tile {
  T* at;
  __device__ T& operator()(int row, int column) const { return at[column * kStep + row]; }
  __device__ void load(const T* from, int m, int n, bool turned = false) const {
    const int lane = threadIdx.x % kWarp;
    for (int c = 0; c < n; ++c)
      if (lane < m) (turned ? (*this)(c, lane) : (*this)(lane, c)) = from[c * m + lane];
    __syncwarp();
  }
  __device__ void store(T* to, int m, int n, bool turned = false) const {
    __syncwarp();
    const int lane = threadIdx.x % kWarp;
    for (int c = 0; c < n; ++c)
      if (lane < m) to[c * m + lane] = turned ? (*this)(c, lane) : (*this)(lane, c);
    __syncwarp();
  }
};

// Calls f(number, tile, lane) for each matrix.
template <class T, class F>
__device__ void each_matrix(const Batch<T>& b, F f) {
  const int warp = threadIdx.x / kWarp;
  const Tile<T> tile = {shared_memory<T>() + warp * kSide * kStep};
  for (Index i = Index(blockIdx.x) * kTeams + warp; i < b.count; i += Index(gridDim.x) * kTeams)
    f(i, tile, int(threadIdx.x % kWarp));
}

// In all lanes, the same bits.
template <class T>
__device__ T warp_sum(T v) {
  for (int by = kWarp / 2; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  return v;
}
template <class T>
__device__ T warp_largest(T v) {
  for (int by = kWarp / 2; by > 0; by /= 2) v = Larger()(v, __shfl_xor_sync(0xffffffffu, v, by));
  return v;
}
template <class T>
__device__ T magnitude(T v) {
  return v < T(0) ? -v : v;
}

template <class T>
__global__ void lu_in_warps(Batch<T> b, int* pivots, int* info) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b.matrices + i * b.m * b.n, b.m, b.n);
    int zero = 0;  // the first pivot that is, counted from 1
    for (int j = 0; j < b.k; ++j) {
      T most = lane >= j && lane < b.m ? magnitude(a(lane, j)) : T(-1);
      if (most != most) most = T(INFINITY);  // all lanes are to agree
      int row = lane;
      for (int by = kWarp / 2; by > 0; by /= 2) {
        const T other = __shfl_xor_sync(0xffffffffu, most, by);
        const int place = __shfl_xor_sync(0xffffffffu, row, by);
        if (other > most || (other == most && place < row)) {
          most = other;
          row = place;
        }
      }
      if (lane == 0) pivots[i * b.k + j] = row + 1;
      if (lane < b.n && row != j) {  // here a lane has a column
        const T above = a(j, lane);
        a(j, lane) = a(row, lane);
        a(row, lane) = above;
      }
      __syncwarp();
      const T pivot = a(j, j);
      if (pivot == T(0) && zero == 0) zero = j + 1;
      if (pivot != T(0) && lane > j && lane < b.m) {
        const T factor = a(lane, j) / pivot;
        a(lane, j) = factor;
        for (int c = j + 1; c < b.n; ++c) a(lane, c) -= factor * a(j, c);
      }
      __syncwarp();
    }
    if (lane == 0) info[i] = zero;
    a.store(b.matrices + i * b.m * b.n, b.m, b.n);
  });
}

// Lower triangles; an upper one is turned.
template <class T>
__global__ void cholesky_in_warps(Batch<T> b, bool turned, int* info) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b.matrices + i * b.m * b.n, b.m, b.n, turned);
    int bad = 0;
    for (int j = 0; j < b.n; ++j) {
      const T square = a(j, j);
      if (!(square > T(0))) {
        bad = j + 1;
        break;
      }
      const T root = sqrt(square);
      __syncwarp();
      if (lane >= j && lane < b.m) a(lane, j) = lane == j ? root : a(lane, j) / root;
      __syncwarp();
      for (int c = j + 1; c <= lane && lane < b.m; ++c) a(lane, c) -= a(lane, j) * a(c, j);
      __syncwarp();
    }
    if (lane == 0) info[i] = bad;
    a.store(b.matrices + i * b.m * b.n, b.m, b.n, turned);
  });
}

// Takes tau v (v^T x) from each column x after column j.
template <class T>
__device__ void reflect(const Tile<T>& a, int lane, int m, int n, int j, T v, T tau) {
  for (int c = j + 1; c < n; ++c) {
    const T x = lane < m ? a(lane, c) : T(0);
    const T along = warp_sum(v * x);
    if (lane >= j && lane < m) a(lane, c) = x - tau * along * v;
  }
}

template <class T>
__global__ void qr_in_warps(Batch<T> b, T* taus) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b.matrices + i * b.m * b.n, b.m, b.n);
    for (int j = 0; j < b.k; ++j) {
      const bool below = lane > j && lane < b.m;
      const T x = below ? a(lane, j) : T(0), first = a(j, j);
      const T scale = warp_largest(magnitude(below ? x : first));
      const T rest = warp_sum(below ? x / scale * (x / scale) : T(0));
      T tau = 0, v = lane == j ? T(1) : T(0), corner = first;
      if (rest != T(0) && scale != T(0)) {
        const T length = scale * sqrt(first / scale * (first / scale) + rest);
        corner = first > T(0) ? -length : length;
        tau = (corner - first) / corner;
        if (below) v = x / (first - corner);
      }
      __syncwarp();
      if (lane == j) a(j, j) = corner;
      if (below) a(lane, j) = v;
      if (lane == 0) taus[i * b.k + j] = tau;
      reflect(a, lane, b.m, b.n, j, v, tau);
      __syncwarp();
    }
    a.store(b.matrices + i * b.m * b.n, b.m, b.n);
  });
}

template <class T>
__global__ void reflections_in_warps(Batch<T> b, const T* taus) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b.matrices + i * b.m * b.n, b.m, b.n);
    for (int c = b.k; c < b.n; ++c) a(lane, c) = lane == c ? T(1) : T(0);
    for (int j = b.k - 1; j >= 0; --j) {
      const T tau = taus[i * b.k + j];
      const T v = lane == j ? T(1) : lane > j && lane < b.m ? a(lane, j) : T(0);
      reflect(a, lane, b.m, b.n, j, v, tau);
      if (lane < b.m) a(lane, j) = (lane == j ? T(1) : T(0)) - tau * v;
    }
    a.store(b.matrices + i * b.m * b.n, b.m, b.n);
  });
}

// Calls run(the batch, blocks, bytes of shared memory) with the element's type.
template <class F>
void start(const View& a, Index k, F run) {
  const auto typed = [&]<class T>(Type<T>) {
    run(Batch<T>{a.sizes[0], int(a.sizes[1]), int(a.sizes[2]), int(k), a.as<T>()},
        blocks_for(a.sizes[0], kTeams), kTeams * kSide * kStep * sizeof(T));
  };
  if (a.dtype == DType::float64)
    typed(Type<double>{});
  else
    typed(Type<float>{});
}
constexpr int kBlock = kTeams * kWarp;

}  // namespace

bool fits_a_warp(const View& a) { return a.sizes[1] <= kSide && a.sizes[2] <= kSide; }

void factor_small_lu(const View& a, const View& pivots, const View& info) {
  start(a, pivots.sizes[1], [&]<class T>(const Batch<T>& b, unsigned blocks, std::size_t bytes) {
    launch("lu_factor", lu_in_warps<T>, blocks, kBlock, bytes, b, pivots.as<int>(), info.as<int>());
  });
}
void factor_small_cholesky(const View& a, bool upper, const View& info) {
  start(a, 0, [&]<class T>(const Batch<T>& b, unsigned blocks, std::size_t bytes) {
    launch("cholesky", cholesky_in_warps<T>, blocks, kBlock, bytes, b, upper, info.as<int>());
  });
}
void factor_small_qr(const View& a, const View& tau) {
  start(a, tau.sizes[1], [&]<class T>(const Batch<T>& b, unsigned blocks, std::size_t bytes) {
    launch("qr", qr_in_warps<T>, blocks, kBlock, bytes, b, tau.as<T>());
  });
}
void multiply_small_reflections(const View& a, const View& tau) {
  start(a, tau.sizes[1], [&]<class T>(const Batch<T>& b, unsigned blocks, std::size_t bytes) {
    launch("householder_product", reflections_in_warps<T>, blocks, kBlock, bytes, b,
           tau.as<const T>());
  });
}

}  // namespace rushlight::gpu
