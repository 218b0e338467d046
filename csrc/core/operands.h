// Devices of the operands of matrix products, embeddings and losses, where torch names the one that
// is elsewhere and the kernel.
#pragma once
#include "core/tensor.h"

namespace rushlight {

struct NamedOperand {
  const char* name;  // the user's
  const char* kernel;  // in torch's kernel
  const Tensor& tensor;
};
// Raises torch's words for `kernel` ("nll_loss_forward") unless both are on one device.
void check_operands(const char* op, const char* kernel, NamedOperand a, NamedOperand b);

}  // namespace rushlight
