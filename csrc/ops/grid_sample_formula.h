// The gradients of grid_sample written with ops: what create_graph=True uses in place of the
// kernel.
#pragma once
#include "kernels/grid_sample.h"
#include "ops/ops.h"

namespace rushlight {

// Of the input and of the grid; undefined where it is not needed.
Gradients grid_sample_formula(const GridShape& s, const Tensor& grad, const Tensor& input,
                              const Tensor& grid, bool needs_input, bool needs_grid);

}  // namespace rushlight
