// Ops that arrange elements of one tensor anew: triangles, diagonals, positions.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// ---- arrange.cpp
Tensor tril(const Tensor& input, std::int64_t diagonal);  // zero above a diagonal of the last two
Tensor triu(const Tensor& input, std::int64_t diagonal);  // zero below it
Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
Tensor diag(const Tensor& input, std::int64_t diagonal);  // vector to matrix, matrix to vector
Tensor rot90(const Tensor& input, std::int64_t k, Sizes dims);
std::vector<Tensor> tensor_split(const Tensor& input, const std::vector<std::int64_t>& at,
                                 std::int64_t dim);  // cut before each position
bool equal(const Tensor& input, const Tensor& other);  // same shape, same elements

// ---- place.cpp: positions in the flat tensor, or along one dimension
Tensor take(const Tensor& input, const Tensor& index);  // of the flat tensor; index's shape
Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<std::int64_t> dim);
Tensor index_fill(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& value);
Tensor index_copy(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source);

}  // namespace rushlight
