// A batch of small products of 16-bit floats, summed in float: to convert each matrix by itself
// would take longer than to multiply it.
#pragma once
#include "kernels/view.h"

namespace rushlight {

// out = alpha * left * right + beta * out; false where the batch is not of that kind.
template <class S>
bool widened_batch(const View& left, const View& right, const View& out, float alpha, float beta);
extern template bool widened_batch<float16>(const View&, const View&, const View&, float, float);
extern template bool widened_batch<bfloat16>(const View&, const View&, const View&, float, float);

}  // namespace rushlight
