// Factorisations by cuSOLVER and cuBLAS (nvidia/factors.h); the exchanges of rows that pivots name
// are kernels of our own, which check every pivot. Matrices are stored by columns.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/nvidia/factors.h"
#include "kernels/cuda/nvidia/pointers.h"
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {
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

__global__ void write_addresses(char* first, Index step, Index count, void** out) {
  for (Index i = first_item(); i < count; i += stride()) out[i] = first + i * step;
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
    const Index* rows = order + line / columns * n;
    for (Index i = first_item(); i < n; i += stride()) {
      const Index there = line * n + rows[i], here = line * n + i;
      to[back ? there : here] = from[back ? here : there];
    }
  }
}

std::int64_t lu_solve(const View& lu, const View& pivots, const View& b, bool transposed) {
  const Index batch = b.sizes[0], n = b.sizes[1], lines = batch * b.sizes[2];
  const Scratch<Index> rows(batch * n, "lu_solve");
  View order = pivots;
  order.data = rows.data();
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
    solve_triangular(lu, x, true, false, true);
    solve_triangular(lu, x, false, true, true);
    move(x, b);
  } else {
    move(b, x);
    solve_triangular(lu, x, false, true, false);
    solve_triangular(lu, x, true, false, false);
    copy_kernels.copy(b, x);
  }
  return -1;
}

// Of a batch of small matrices none is work enough for a GPU: all go into one call.
bool is_batch(const View& a) {
  return a.sizes[0] > 1 && a.sizes[1] <= kMostSide && a.sizes[2] <= kMostSide;
}
void lu(const View& a, const View& pivots, const View& info) {
  const bool square = a.sizes[1] == a.sizes[2];
  square&& is_batch(a) ? factor_lu_batch(a, pivots, info) : factor_lu(a, pivots, info);
}
void qr(const View& a, const View& tau) {
  is_batch(a) ? factor_qr_batch(a, tau) : factor_qr(a, tau);
}
void solve(const View& a, const View& b, bool upper, bool unit) {
  solve_triangular(a, b, upper, unit, false);
}

const char* absence() {
  const char* why = why_no_cusolver();
  return why ? why : why_no_cublas();
}

}  // namespace

const LinalgKernels linalg_kernels = {
    absence,
    lu,
    lu_solve,
    permutation,
    factor_cholesky,
    solve,
    qr,
    multiply_reflections,
    find_eigenvectors,
    find_singular_vectors,
};

void point_to_matrices(const View& v, void** out, const char* op) {
  launch_items(op, write_addresses, v.sizes[0], v.as<char>(),
               v.strides[0] * Index(item_size(v.dtype)), v.sizes[0], out);
}

}  // namespace rushlight::gpu
