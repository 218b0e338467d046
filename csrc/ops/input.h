// Input: an operand that is a tensor or a scalar.
#pragma once
#include "core/tensor.h"

namespace rushlight {

struct Input {
  const Tensor* tensor = nullptr;  // null: a scalar
  Scalar scalar{};
};

}  // namespace rushlight
