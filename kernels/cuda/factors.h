// Factorisations as linalg.cu puts them into the table: ours of small matrices (linalg_small.cu),
// cuSOLVER's of others (cusolver.cu).
#pragma once
#include "../linalg.h"

namespace rushlight::gpu {

const char* why_no_factors();  // null where cuSOLVER is there; the others are for then alone
void factor_lu(const View& a, const View& pivots, const View& info);
void factor_cholesky(const View& a, bool upper, const View& info);
void factor_qr(const View& a, const View& tau);
void multiply_reflections(const View& a, const View& tau);
void find_eigenvectors(const View& a, const View& values, bool vectors, bool upper,
                       const View& info);
void find_singular_vectors(const View& a, const View& u, const View& s, const View& vt,
                           const View& info);

bool fits_a_warp(const View& a);  // then these serve
void factor_small_lu(const View& a, const View& pivots, const View& info);
void factor_small_cholesky(const View& a, bool upper, const View& info);
void factor_small_qr(const View& a, const View& tau);
void multiply_small_reflections(const View& a, const View& tau);

}  // namespace rushlight::gpu
