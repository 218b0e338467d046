// Vectors that span a grid, choices of elements, blocks that make a matrix. See grid.cpp.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// Views of the vectors expanded to the grid's shape; xy: with the first two dimensions swapped.
std::vector<Tensor> meshgrid(std::vector<Tensor> vectors, bool xy);
Tensor cartesian_prod(const std::vector<Tensor>& vectors);
// r elements of a vector in each row.
Tensor combinations(const Tensor& input, std::int64_t r, bool with_replacement);
Tensor block_diag(const std::vector<Tensor>& blocks);  // 0-d and 1-d ones are rows

// Indices into a flattened tensor of this shape as one index per dimension.
std::vector<Tensor> unravel_index(const Tensor& indices, const std::vector<std::int64_t>& shape);

}  // namespace rushlight
