// LU and Cholesky of matrices of any size: one half of the columns, what it says of the other, the
// other (Toledo 1997), down to 32 columns (linalg_small.cu), so that nearly all of the work are
// products. All of a batch at once. What is wrong first stays in info.
#include "kernels/cuda/families.h"
#include "kernels/cuda/nvidia/factors.h"
#include "kernels/cuda/nvidia/products.h"
#include "linalg_batch.h"

namespace rushlight::gpu {
namespace {

constexpr Index kColumns = kWarp;  // of what is not halved
Index half_of(Index n) { return (n / 2 + kColumns - 1) / kColumns * kColumns; }

// Rows first..last change places with those that their pivots name, a thread for each column.
template <class T>
__global__ void exchange_rows(Batch<T> b, const int* pivots, Index pivot_step, Index first,
                              Index last) {
  for (Index m = blockIdx.y; m < b.count; m += gridDim.y)
    for (Index c = first_item(); c < b.columns; c += stride()) {
      T* column = b.column(m, c);
      for (Index i = first; i < last; ++i) {
        const Index other = pivots[m * pivot_step + i] - 1;
        const T value = column[i];
        column[i] = column[other];
        column[other] = value;
      }
    }
}
void exchange(const View& columns, const View& pivots, Index first, Index last) {
  const Index batch = columns.sizes[0];
  const dim3 grid(blocks_for(columns.sizes[2]), unsigned(batch < 65535 ? batch : 65535));
  compute_floating(columns.dtype, [&]<class T>(Type<T>) {
    launch("lu_factor", exchange_rows<T>, grid, kThreads, 0, Batch<T>(columns),
           pivots.as<const int>(), pivots.sizes[1], first, last);
  });
}

// Columns first..last from row `first` on, when those before have had their say.
void factor_columns(const View& a, const View& pivots, const View& info, Index first, Index last) {
  const Index m = a.sizes[1], count = last - first;
  if (count <= kColumns)
    return factor_small_lu(part(a, first, m - first, first, count), pivots, info, first);
  const Index middle = first + half_of(count), left = middle - first, right = last - middle;
  factor_columns(a, pivots, info, first, middle);
  exchange(part(a, 0, m, middle, right), pivots, first, middle);
  const View beside = part(a, first, left, middle, right);
  solve_triangular(part(a, first, left, first, left), beside, false, true);
  multiply_exactly(part(a, middle, m - middle, first, left), beside,
                   part(a, middle, m - middle, middle, right), -1, 1);
  factor_columns(a, pivots, info, middle, last);
  exchange(part(a, 0, m, first, left), pivots, middle, last);
}

// A lower triangle, at `offset` of the whole matrix.
void factor_lower(const View& a, const View& info, Index offset) {
  const Index n = a.sizes[1];
  if (n <= kColumns) return factor_small_cholesky(a, info, offset);
  const Index half = half_of(n), rest = n - half;
  const View top = part(a, 0, half, 0, half), below = part(a, half, rest, 0, half),
             last = part(a, half, rest, half, rest);
  factor_lower(top, info, offset);
  solve_triangular(top, turned(below), false, false);
  multiply_exactly(below, turned(below), last, -1, 1);
  factor_lower(last, info, offset + half);
}

}  // namespace

void factor_lu_in_halves(const View& a, const View& pivots, const View& info) {
  const Index k = pivots.sizes[1], n = a.sizes[2];
  copy_kernels.fill(info, 0);
  factor_columns(a, pivots, info, 0, k);
  if (n == k) return;
  exchange(part(a, 0, k, k, n - k), pivots, 0, k);
  solve_triangular(part(a, 0, k, 0, k), part(a, 0, k, k, n - k), false, true);
}

void factor_cholesky_in_halves(const View& a, bool upper, const View& info) {
  copy_kernels.fill(info, 0);
  factor_lower(upper ? turned(a) : a, info, 0);
}

}  // namespace rushlight::gpu
