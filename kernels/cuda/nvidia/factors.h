// Factorisations by NVIDIA's libraries, as linalg.cu puts them into the table: cuSOLVER's
// (cusolver.cpp), and cuBLAS's of batches (cublas.cpp). Views are batches of matrices, stored by
// columns.
#pragma once
#include "kernels/cuda/runtime/current.h"
#include "kernels/linalg.h"

namespace rushlight::gpu {

// Rows and columns of the matrices of a batch that are too few to be work enough each.
inline constexpr Index kMostSide = 512;

// The rest is only to be called where these are null: both libraries are there.
const char* why_no_cusolver();
const char* why_no_cublas();

// cusolver.cpp
void factor_lu(const View& a, const View& pivots, const View& info);
void factor_cholesky(const View& a, bool upper, const View& info);
void factor_qr(const View& a, const View& tau);
void multiply_reflections(const View& a, const View& tau);
void find_eigenvectors(const View& a, const View& values, bool vectors, bool upper,
                       const View& info);
void find_singular_vectors(const View& a, const View& u, const View& s, const View& vt,
                           const View& info);

// cublas.cpp
void factor_lu_batch(const View& a, const View& pivots, const View& info);  // square matrices
void factor_qr_batch(const View& a, const View& tau);
void solve_triangular(const View& a, const View& b, bool upper, bool unit, bool transposed);

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
