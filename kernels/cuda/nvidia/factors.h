// What linalg.cu puts into the table and how its parts share it: ours (linalg_small.cu,
// linalg_halves.cu, linalg_panels.cu), cuSOLVER's (cusolver.cu). Views are batches of matrices,
// stored by columns.
#pragma once
#include <utility>

#include "kernels/cuda/device.h"
#include "kernels/linalg.h"

namespace rushlight::gpu {

// Rows and columns of the matrices of a batch that are too few to be work enough each.
inline constexpr Index kMostSide = 512;

// cusolver.cu
const char* why_no_factors();  // null where it is there; the others are for then alone
void factor_lu(const View& a, const View& pivots, const View& info);
void factor_cholesky(const View& a, bool upper, const View& info);
void factor_qr(const View& a, const View& tau);
void multiply_reflections(const View& a, const View& tau);
void find_eigenvectors(const View& a, const View& values, bool vectors, bool upper,
                       const View& info);
void find_singular_vectors(const View& a, const View& u, const View& s, const View& vt,
                           const View& info);

// linalg_small.cu. The first two begin at row and column `offset` of a larger matrix, and leave an
// info that is not 0.
bool fits_a_warp(const View& a);
void factor_small_lu(const View& a, const View& pivots, const View& info, Index offset);
void factor_small_cholesky(const View& a, const View& info, Index offset);  // lower, or turned
void factor_small_qr(const View& a, const View& tau);
void multiply_small_reflections(const View& a, const View& tau);

// linalg_halves.cu
void factor_lu_in_halves(const View& a, const View& pivots, const View& info);
void factor_cholesky_in_halves(const View& a, bool upper, const View& info);

// linalg_panels.cu
void factor_qr_in_panels(const View& a, const View& tau);
void multiply_reflections_in_panels(const View& a, const View& tau);

// linalg.cu. Strides may be any.
void solve_triangular(const View& a, const View& b, bool upper, bool unit);

inline View part(View v, Index row, Index rows, Index column, Index columns) {
  const Index offset = row * v.strides[1] + column * v.strides[2];
  v.data = v.as<char>() + offset * Index(item_size(v.dtype));
  v.sizes[1] = rows;
  v.sizes[2] = columns;
  v.numel = v.sizes[0] * rows * columns;
  return v;
}
inline View turned(View v) {
  std::swap(v.sizes[1], v.sizes[2]);
  std::swap(v.strides[1], v.strides[2]);
  return v;
}

// Matrices in `data`, as many as `like` has.
inline View matrices_in(void* data, const View& like, Index rows, Index columns) {
  View v = like;
  v.data = data;
  v.rank = 3;
  v.numel = like.sizes[0] * rows * columns;
  v.sizes[1] = rows;
  v.sizes[2] = columns;
  v.strides[0] = rows * columns;
  v.strides[1] = 1;
  v.strides[2] = rows;
  return v;
}

}  // namespace rushlight::gpu
