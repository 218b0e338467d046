// Input: an operand that is a tensor or a number.
#pragma once
#include "core/tensor.h"

namespace rushlight {

struct Input {
  const Tensor* tensor = nullptr;  // null: a number
  Scalar number{};
};

}  // namespace rushlight
