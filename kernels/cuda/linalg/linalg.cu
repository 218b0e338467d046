// What solves with factors: triangular systems and exchanges of rows; and who factors: kernels of
// our own (linalg_small.cu, linalg_halves.cu, linalg_panels.cu) or cuSOLVER (cusolver.cu). Matrices
// are stored by columns, a batch in one launch.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/nvidia/factors.h"
#include "kernels/cuda/nvidia/products.h"
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kSide = kWarp, kStep = kSide + 1;  // of what a warp solves, and in shared memory
constexpr int kWarps = kThreads / kWarp;

struct Systems {
  Index batch, columns;
  int n;  // at most kSide
  bool upper, unit, along;  // along: the matrix's columns are dense
  Index a[3], b[3];  // strides: batch, row, column
};

// b := the solution, a warp for each of its columns and a lane for each row: what is known of x is
// taken from the rows that are not.
template <class T>
__global__ void solve_in_warps(Systems s, const T* a, T* b) {
  T* tile = shared_memory<T>();  // [column][kStep]
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (Index m = blockIdx.y; m < s.batch; m += gridDim.y) {
    for (int i = threadIdx.x; i < kSide * kSide; i += kThreads) {
      const int row = s.along ? i % kSide : i / kSide, column = s.along ? i / kSide : i % kSide;
      if (row < s.n && column < s.n)
        tile[column * kStep + row] = a[m * s.a[0] + row * s.a[1] + column * s.a[2]];
    }
    __syncthreads();
    for (Index c = Index(blockIdx.x) * kWarps + warp; c < s.columns; c += gridDim.x * kWarps) {
      T* place = b + m * s.b[0] + lane * s.b[1] + c * s.b[2];
      T x = lane < s.n ? *place : T(0);
      for (int i = 0; i < s.n; ++i) {
        const int known = s.upper ? s.n - 1 - i : i;
        T value = __shfl_sync(0xffffffffu, x, known);
        if (!s.unit) value /= tile[known * kStep + known];
        if (lane == known) x = value;
        const bool waits = s.upper ? lane < known : lane > known && lane < s.n;
        if (waits) x -= tile[known * kStep + lane] * value;
      }
      if (lane < s.n) *place = x;
    }
    __syncthreads();
  }
}

void solve_small(const View& a, const View& b, bool upper, bool unit) {
  Systems s = {b.sizes[0], b.sizes[2], int(a.sizes[1]), upper, unit, a.strides[1] == 1, {}, {}};
  for (int d = 0; d < 3; ++d) {
    s.a[d] = a.strides[d];
    s.b[d] = b.strides[d];
  }
  const dim3 grid(blocks_for(s.columns, kWarps), unsigned(s.batch < 65535 ? s.batch : 65535));
  compute_floating(a.dtype, [&]<class T>(Type<T>) {
    launch("solve_triangular", solve_in_warps<T>, grid, kThreads, kSide * kStep * sizeof(T), s,
           a.as<const T>(), b.as<T>());
  });
}

}  // namespace

// One half, what it says of the other, the other: nearly all of the work is products.
void solve_triangular(const View& a, const View& b, bool upper, bool unit) {
  const Index n = a.sizes[1], columns = b.sizes[2];
  if (n <= kSide) return solve_small(a, b, upper, unit);
  const Index half = (n / 2 + kSide - 1) / kSide * kSide, rest = n - half;
  const View top = part(b, 0, half, 0, columns), bottom = part(b, half, rest, 0, columns);
  const View first = part(a, 0, half, 0, half), last = part(a, half, rest, half, rest);
  if (upper) {
    solve_triangular(last, bottom, upper, unit);
    multiply_exactly(part(a, 0, half, half, rest), bottom, top, -1, 1);
    solve_triangular(first, top, upper, unit);
  } else {
    solve_triangular(first, top, upper, unit);
    multiply_exactly(part(a, half, rest, 0, half), top, bottom, -1, 1);
    solve_triangular(last, bottom, upper, unit);
  }
}

namespace {

constexpr Index kShared = 12000;  // rows whose order a block keeps in shared memory

// A block for each matrix; one thread follows the exchanges, which are a chain.
__global__ void follow_exchanges(Index batch, Index k, Index n, const int* pivots, int* spare,
                                 Index* out, bool inverse, Note* note) {
  for (Index m = blockIdx.x; m < batch; m += gridDim.x) {
    int* order = spare ? spare + m * n : shared_memory<int>();
    for (Index i = threadIdx.x; i < n; i += kThreads) order[i] = int(i);
    __syncthreads();
    for (Index i = 0; i < k && threadIdx.x == 0; ++i) {
      int at = pivots[m * k + i];
      if (at < 1 || at > n) {
        leave_note(note, Noted::pivot, at, n);
        at = 1;
      }
      const int before = order[i];
      order[i] = order[at - 1];
      order[at - 1] = before;
    }
    __syncthreads();
    for (Index i = threadIdx.x; i < n; i += kThreads)
      out[m * n + (inverse ? Index(order[i]) : i)] = inverse ? i : Index(order[i]);
    __syncthreads();
  }
}

std::int64_t permutation(const View& pivots, const View& order, bool inverse) {
  const Index batch = order.sizes[0], n = order.sizes[1];
  const Scratch<int> spare(n > kShared ? batch * n : 0, "permutation");
  launch("permutation", follow_exchanges, blocks_for(batch, 1), kThreads,
         n > kShared ? 0 : std::size_t(n) * sizeof(int), batch, pivots.sizes[1], n,
         pivots.as<const int>(), n > kShared ? spare.data() : nullptr, order.as<Index>(), inverse,
         current().note);
  return -1;
}

// Row i of `to` is row order[i] of `from`, or the other way where rows go back.
template <class T>
__global__ void move_rows(Index n, Index columns, Index lines, const Index* order, const T* from,
                          T* to, bool back) {
  for (Index line = blockIdx.y; line < lines; line += gridDim.y) {
    const Index* places = order + line / columns * n;
    for (Index i = first_item(); i < n; i += stride()) {
      const Index there = line * n + places[i], here = line * n + i;
      to[back ? there : here] = from[back ? here : there];
    }
  }
}

std::int64_t lu_solve(const View& lu, const View& pivots, const View& b, bool transposed) {
  const Index batch = b.sizes[0], n = b.sizes[1], lines = batch * b.sizes[2];
  const Scratch<Index> places(batch * n, "lu_solve");
  View order = pivots;
  order.data = places.data();
  order.dtype = DType::int64;
  permutation(pivots, order, false);
  const Scratch<char> moved(b.numel * Index(item_size(b.dtype)), "lu_solve");
  View x = b;
  x.data = moved.data();
  const auto move = [&](const View& from, const View& to) {
    compute_floating(b.dtype, [&]<class T>(Type<T>) {
      launch("lu_solve", move_rows<T>, dim3(blocks_for(n), unsigned(lines < 65535 ? lines : 65535)),
             kThreads, 0, n, b.sizes[2], lines, order.as<const Index>(), from.as<const T>(),
             to.as<T>(), transposed);
    });
  };
  if (transposed) {  // U^T, L^T, and the rows back
    copy_kernels.copy(x, b);
    solve_triangular(turned(lu), x, false, false);
    solve_triangular(turned(lu), x, true, true);
    move(x, b);
  } else {
    move(b, x);
    solve_triangular(lu, x, false, true);
    solve_triangular(lu, x, true, false);
    copy_kernels.copy(b, x);
  }
  return -1;
}

// One matrix, or large ones, are work enough for cuSOLVER, which takes them one by one.
bool is_ours(const View& a) {
  return fits_a_warp(a) || why_no_factors() ||
         (a.sizes[0] > 1 && a.sizes[1] <= kMostSide && a.sizes[2] <= kMostSide);
}
void lu(const View& a, const View& pivots, const View& info) {
  is_ours(a) ? factor_lu_in_halves(a, pivots, info) : factor_lu(a, pivots, info);
}
void cholesky(const View& a, bool upper, const View& info) {
  is_ours(a) ? factor_cholesky_in_halves(a, upper, info) : factor_cholesky(a, upper, info);
}
void qr(const View& a, const View& tau) {
  fits_a_warp(a) ? factor_small_qr(a, tau)
  : is_ours(a)   ? factor_qr_in_panels(a, tau)
                 : factor_qr(a, tau);
}
void householder(const View& a, const View& tau) {
  fits_a_warp(a) ? multiply_small_reflections(a, tau)
  : is_ours(a)   ? multiply_reflections_in_panels(a, tau)
                 : multiply_reflections(a, tau);
}

const char* absence(Linalg wanted) {
  return wanted == Linalg::decomposing ? why_no_factors() : nullptr;
}

}  // namespace

const LinalgKernels linalg_kernels = {
    absence,          lu, lu_solve,    permutation,       cholesky,
    solve_triangular, qr, householder, find_eigenvectors, find_singular_vectors,
};

}  // namespace rushlight::gpu
