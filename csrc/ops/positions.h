// Looks at positions before anything is read or written there.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// Calls refuse(k, i) for the first position outside [low, high): k, which stands at i. Where a
// device holds the positions, its kernel looks at them.
template <class F>
void check_positions(const Tensor& index, std::int64_t low, std::int64_t high, const F& refuse) {
  if (!index.device().is_cpu()) return;
  const Tensor dense = contiguous(to(index, DType::int64));
  const View v = view_of(dense);
  for (std::int64_t i = 0; i < v.numel; ++i)
    if (const std::int64_t k = v.as<const std::int64_t>()[i]; k < low || k >= high) refuse(k, i);
}

}  // namespace rushlight
