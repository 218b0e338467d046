// Batches of small matrices, where the work of one product is less than that of starting it: one
// call goes through all of them. For AVX-512.
#pragma once
#include "kernels/view.h"

namespace rushlight {

// out = alpha * left * right + beta * out for each of a batch, over the pool. False where the
// matrices are large, the operands lie so that they must be copied, or the processor is another
// one: then nothing was done.
template <class T>
bool small_batch(const View& left, const View& right, const View& out, T alpha, T beta);
extern template bool small_batch(const View&, const View&, const View&, float, float);
extern template bool small_batch(const View&, const View&, const View&, double, double);

}  // namespace rushlight
