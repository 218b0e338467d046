// Gradients as Python sees them during a backward pass: hooks and Functions are given, for one
// gradient, one tensor, whose attributes and data are theirs (engine.cpp).
#pragma once
#include "core/tensor.h"

namespace rushlight {

Tensor seen_gradient(const Tensor& gradient);
// The gradient that goes on where a Function returned `seen`.
Tensor returned_gradient(const Tensor& seen);

}  // namespace rushlight
