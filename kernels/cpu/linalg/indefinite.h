// Symmetric and Hermitian matrices that need not be positive, as LinalgKernels declares them.
#pragma once
#include "kernels/view.h"

namespace rushlight {

void factor_ldl(const View& a, const View& pivots, bool hermitian, const View& info);
std::int64_t solve_ldl(const View& ld, const View& pivots, const View& b, bool hermitian);

}  // namespace rushlight
