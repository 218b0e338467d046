// Triangles and diagonals of the last two dimensions.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// ---- triangular.cpp
Tensor tril(const Tensor& input, std::int64_t diagonal);  // zero above the diagonal
Tensor triu(const Tensor& input, std::int64_t diagonal);  // zero below it
// int64 [2, n]: the rows and the columns of a triangle's elements, in row-major order.
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Device device);
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Device device);

// ---- diagonal.cpp; diagonal() itself is a view
Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
Tensor diag(const Tensor& input, std::int64_t diagonal);  // vector to matrix, matrix to vector
Tensor diagflat(const Tensor& input, std::int64_t offset);  // all elements; a matrix
Tensor trace(const Tensor& input);

}  // namespace rushlight
