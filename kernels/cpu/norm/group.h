// Group and layer norm, whose kernels are in group.cpp; the table is in norm.cpp.
#pragma once
#include "kernels/norm.h"

namespace rushlight::norm {

void group_norm(const NormShape& s, const View& input, const View* weight, const View* bias,
                double eps, const View& mean, const View& invstd, const View& out);
void group_norm_backward(const NormShape& s, const View& grad, const View& input,
                         const View* weight, const View& mean, const View& invstd,
                         const View* grad_input, const View* grad_weight, const View* grad_bias);

}  // namespace rushlight::norm
