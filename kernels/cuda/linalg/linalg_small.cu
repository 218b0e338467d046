// Factorisations of matrices of up to 32 rows and columns: a warp for each, a lane for each row,
// all of a batch in one launch, the matrix in shared memory meanwhile. Results are those of
// LAPACK's unblocked routines, column by column. Also the LU of up to 32 columns of any height, a
// block for each. The matrix may be a part of a larger one, `offset` rows and columns from its
// corner.
#include "kernels/cuda/nvidia/factors.h"
#include "linalg_batch.h"

namespace rushlight::gpu {
namespace {

constexpr int kSide = kWarp, kStep = kSide + 1, kTeams = 4;  // matrices of a block

// A warp's matrix; element (row, column). One that is turned is its own transpose.
template <class T>
struct Tile {
  T* at;
  __device__ T& operator()(int row, int column) const { return at[column * kStep + row]; }
  __device__ void load(const Batch<T>& b, Index i, bool turned = false) const {
    const int lane = threadIdx.x % kWarp;
    const T* from = b.column(i, 0) + lane;
    for (int c = 0; c < b.columns; ++c)
      if (lane < b.rows) (turned ? (*this)(c, lane) : (*this)(lane, c)) = from[c * b.lead];
    __syncwarp();
  }
  __device__ void store(const Batch<T>& b, Index i, bool turned = false) const {
    __syncwarp();
    const int lane = threadIdx.x % kWarp;
    T* to = b.column(i, 0) + lane;
    for (int c = 0; c < b.columns; ++c)
      if (lane < b.rows) to[c * b.lead] = turned ? (*this)(c, lane) : (*this)(lane, c);
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

// Where pivots and infos go: the pivots of matrix i lie i * step further on. An info that is not 0
// stays.
struct Report {
  int *pivots, *infos;
  Index step;
  int offset;
  __device__ void pivot(Index i, int j, Index row) const {
    pivots[i * step + j] = offset + int(row) + 1;
  }
  __device__ void info(Index i, int bad) const {
    if (bad && infos[i] == 0) infos[i] = offset + bad;
  }
};

template <class T>
__global__ void lu_in_warps(Batch<T> b, Report report) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b, i);
    int zero = 0;  // the first pivot that is, counted from 1
    for (int j = 0; j < b.rows && j < b.columns; ++j) {
      T most = lane >= j && lane < b.rows ? magnitude(a(lane, j)) : T(-1);
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
      if (lane == 0) report.pivot(i, j, row);
      if (lane < b.columns && row != j) {  // here a lane has a column
        const T above = a(j, lane);
        a(j, lane) = a(row, lane);
        a(row, lane) = above;
      }
      __syncwarp();
      const T pivot = a(j, j);
      if (pivot == T(0) && zero == 0) zero = j + 1;
      if (pivot != T(0) && lane > j && lane < b.rows) {
        const T factor = a(lane, j) / pivot;
        a(lane, j) = factor;
        for (int c = j + 1; c < b.columns; ++c) a(lane, c) -= factor * a(j, c);
      }
      __syncwarp();
    }
    if (lane == 0) report.info(i, zero);
    a.store(b, i);
  });
}

// The largest of the rows that a thread has seen.
template <class T>
struct Candidate {
  T size;
  Index row;
};
struct First {  // of equals
  template <class T>
  __device__ Candidate<T> operator()(const Candidate<T>& a, const Candidate<T>& b) const {
    return b.size > a.size || (b.size == a.size && b.row < a.row) ? b : a;
  }
};

template <class T>
__global__ void lu_of_panel(Batch<T> b, Report report) {
  const int t = threadIdx.x;
  for (Index i = blockIdx.x; i < b.count; i += gridDim.x) {
    T* a = b.column(i, 0);
    int zero = 0;
    for (int j = 0; j < b.columns; ++j) {
      Candidate<T> mine = {T(-1), b.rows};
      for (Index r = j + t; r < b.rows; r += kThreads) {
        const T size = magnitude(a[j * b.lead + r]);
        mine = First()(mine, Candidate<T>{size == size ? size : T(INFINITY), r});
      }
      const Index row = block_reduce(mine, First(), shared_memory<Candidate<T>>()).row;
      if (t == 0) report.pivot(i, j, row);
      if (t < b.columns && row != j) {
        const T above = a[t * b.lead + j];
        a[t * b.lead + j] = a[t * b.lead + row];
        a[t * b.lead + row] = above;
      }
      __syncthreads();
      const T pivot = a[j * b.lead + j];
      if (pivot == T(0) && zero == 0) zero = j + 1;
      for (Index r = j + 1 + t; r < b.rows && pivot != T(0); r += kThreads) {
        const T factor = a[j * b.lead + r] / pivot;
        a[j * b.lead + r] = factor;
        for (int c = j + 1; c < b.columns; ++c) a[c * b.lead + r] -= factor * a[c * b.lead + j];
      }
      __syncthreads();
    }
    if (t == 0) report.info(i, zero);
  }
}

// Lower triangles; an upper one is turned.
template <class T>
__global__ void cholesky_in_warps(Batch<T> b, bool turned, Report report) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b, i, turned);
    int bad = 0;
    for (int j = 0; j < b.columns; ++j) {
      const T square = a(j, j);
      if (!(square > T(0))) {
        bad = j + 1;
        break;
      }
      const T root = sqrt(square);
      __syncwarp();
      if (lane >= j && lane < b.rows) a(lane, j) = lane == j ? root : a(lane, j) / root;
      __syncwarp();
      for (int c = j + 1; c <= lane && lane < b.rows; ++c) a(lane, c) -= a(lane, j) * a(c, j);
      __syncwarp();
    }
    if (lane == 0) report.info(i, bad);
    a.store(b, i, turned);
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
__global__ void qr_in_warps(Batch<T> b, int k, T* taus) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b, i);
    for (int j = 0; j < k; ++j) {
      const bool below = lane > j && lane < b.rows;
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
      if (lane == 0) taus[i * k + j] = tau;
      reflect(a, lane, b.rows, b.columns, j, v, tau);
      __syncwarp();
    }
    a.store(b, i);
  });
}

template <class T>
__global__ void reflections_in_warps(Batch<T> b, int k, const T* taus) {
  each_matrix(b, [&](Index i, const Tile<T>& a, int lane) {
    a.load(b, i);
    for (int c = k; c < b.columns; ++c) a(lane, c) = lane == c ? T(1) : T(0);
    for (int j = k - 1; j >= 0; --j) {
      const T tau = taus[i * k + j];
      const T v = lane == j ? T(1) : lane > j && lane < b.rows ? a(lane, j) : T(0);
      reflect(a, lane, b.rows, b.columns, j, v, tau);
      if (lane < b.rows) a(lane, j) = (lane == j ? T(1) : T(0)) - tau * v;
    }
    a.store(b, i);
  });
}

constexpr int kBlock = kTeams * kWarp;

// Of matrices that fit a warp.
template <class T, class... P, class... A>
void launch_warps(const char* op, void (*kernel)(Batch<T>, P...), const View& a, A... arguments) {
  launch(op, kernel, blocks_for(a.sizes[0], kTeams), kBlock, kTeams * kSide * kStep * sizeof(T),
         Batch<T>(a), arguments...);
}

}  // namespace

bool fits_a_warp(const View& a) { return a.sizes[1] <= kSide && a.sizes[2] <= kSide; }

void factor_small_lu(const View& a, const View& pivots, const View& info, Index offset) {
  const Report report = {pivots.as<int>() + offset, info.as<int>(), pivots.sizes[1], int(offset)};
  compute_floating(a.dtype, [&]<class T>(Type<T>) {
    if (fits_a_warp(a))
      launch_warps("lu_factor", lu_in_warps<T>, a, report);
    else
      launch("lu_factor", lu_of_panel<T>, blocks_for(a.sizes[0], 1), kThreads,
             sizeof(Candidate<T>) * kThreads / kWarp, Batch<T>(a), report);
  });
}
void factor_small_cholesky(const View& a, const View& info, Index offset) {
  const Report report = {nullptr, info.as<int>(), 0, int(offset)};
  const bool is_turned = a.strides[1] != 1;
  compute_floating(a.dtype, [&]<class T>(Type<T>) {
    launch_warps("cholesky", cholesky_in_warps<T>, is_turned ? turned(a) : a, is_turned, report);
  });
}
void factor_small_qr(const View& a, const View& tau) {
  compute_floating(a.dtype, [&]<class T>(Type<T>) {
    launch_warps("qr", qr_in_warps<T>, a, tau.sizes[1], tau.as<T>());
  });
}
void multiply_small_reflections(const View& a, const View& tau) {
  compute_floating(a.dtype, [&]<class T>(Type<T>) {
    launch_warps("householder_product", reflections_in_warps<T>, a, tau.sizes[1],
                 tau.as<const T>());
  });
}

}  // namespace rushlight::gpu
