// What pointwise.cpp takes from complex.cpp.
#pragma once
#include "kernels/pointwise.h"

namespace rushlight {

void run_complex(ComplexFormula f, const PointwiseCall& c);

}  // namespace rushlight
