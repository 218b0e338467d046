// Checks of operands. Where two are on different devices, the error advises to move the one on the
// CPU: it is more often left behind there than moved away by mistake.
#include "core/operands.h"

#include "core/error.h"

namespace rushlight {

void check_operands(const char* op, const char* kernel, NamedOperand a, NamedOperand b) {
  if (a.tensor.device() == b.tensor.device()) [[likely]]
    return;
  const bool first = a.tensor.device().is_cpu();
  const NamedOperand& wrong = first ? a : b;
  const NamedOperand& other = first ? b : a;
  fail<RuntimeError>("Expected all tensors to be on the same device, but got ", wrong.kernel,
                     " is on ", wrong.tensor.device(), ", different from other tensors on ",
                     other.tensor.device(), " (when checking argument in method wrapper_CUDA_",
                     kernel, ")\n", op, "(): ", describe(wrong.name, wrong.tensor), "; ",
                     describe(other.name, other.tensor), "\nmove it: ", wrong.name, ".to('",
                     other.tensor.device(), "'), or module.to('", other.tensor.device(),
                     "') for a module that holds it");
}

}  // namespace rushlight
