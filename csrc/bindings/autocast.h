// How autocast casts the tensors of a listed op: a Policy is a word of its row (row.h). Note:
// a tensor is cast by the policy of its own device, and only if it is floating point and
// not float64; what an out= receives is never cast.
#pragma once
#include "bindings/table/row.h"
#include "core/autocast.h"
#include "core/tensor.h"
#include "kernels/pointwise.h"
#include "ops/input.h"

namespace rushlight::python {

// The tensor as an op with this policy takes it in the regions that are open.
Tensor recast(const Tensor& t, Policy p);

// The same for the operands of a pointwise op, which are kept here for the length of the call.
class Recast {
 public:
  Recast(Input* in, int count, Policy p) {
    for (int i = 0; i < count; ++i)
      if (in[i].tensor) {
        kept_[i] = recast(*in[i].tensor, p);
        in[i].tensor = &kept_[i];
      }
  }

 private:
  Tensor kept_[kMaxInputs];
};

}  // namespace rushlight::python
