// The write that scatter, scatter_add and scatter_reduce share.
#pragma once
#include "kernels/index.h"
#include "ops/ops.h"

namespace rushlight {

// Combines src into self by an index along dim; checks all of it first, records nothing.
void scatter_into(const char* op, const Tensor& self, int dim, const Tensor& index,
                  const Tensor& src, ScatterMode mode, bool include_self = true);

}  // namespace rushlight
