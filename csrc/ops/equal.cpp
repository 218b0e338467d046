// Whether two tensors are the same.
#include "core/backend.h"
#include "kernels/index.h"
#include "ops/index/index.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {

bool equal(const Tensor& input, const Tensor& other) {
  check_same_device("equal", input, "input", other, "other");
  if (!same(input.sizes(), other.sizes())) return false;
  if (input.numel() == 0) return true;
  const GradMode off(false);
  report_wait(input.device(), "equal()");
  const Tensor differs = apply<Ne>(input, other);
  return backend(input.device()).index->count_nonzero(view_of(differs)) == 0;
}

}  // namespace rushlight
