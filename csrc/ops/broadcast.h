// Tensors expanded to a common shape, or to a least number of dimensions: views. See broadcast.cpp.
#pragma once
#include "ops/ops.h"

namespace rushlight {

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);
// A vector is a row of a matrix, and (1, n, 1) of three dimensions; a matrix is (m, n, 1).
Tensor at_least(int rank, const Tensor& input);

}  // namespace rushlight
