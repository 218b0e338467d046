// Vectors that span a grid, blocks that make a matrix, differences of neighbours. See grid.cpp.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// Views of the vectors expanded to the grid's shape; xy: with the first two dimensions swapped.
std::vector<Tensor> meshgrid(std::vector<Tensor> vectors, bool xy);
Tensor cartesian_prod(const std::vector<Tensor>& vectors);
Tensor block_diag(const std::vector<Tensor>& blocks);  // 0-d and 1-d ones are rows
Tensor kron(const Tensor& input, const Tensor& other);
// n times; prepend and append may be undefined.
Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append);

// Indices into a flattened tensor of this shape as one index per dimension.
std::vector<Tensor> unravel_index(const Tensor& indices, const std::vector<std::int64_t>& shape);

}  // namespace rushlight
