// Eigenvalues, singular values and least squares, as LinalgKernels declares them.
#pragma once
#include "kernels/view.h"

namespace rushlight {

void find_eigh(const View& a, const View& values, bool vectors, bool upper, const View& info);
void find_svd(const View& a, const View& u, const View& s, const View& vt, const View& info);
void find_lstsq(const View& a, const View& b, double rcond, const View& rank);
void find_eig(const View& a, const View& values, const View& vectors, const View& info);

}  // namespace rushlight
