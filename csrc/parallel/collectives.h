// Tensors summed and copied over several GPUs at once, where the provider can (NCCL, for real
// ones).
#pragma once
#include "ops/ops.h"

namespace rushlight {

// `parts` holds for each device in turn the values of all jobs there; returns the sums, on
// `target`. Empty where the provider cannot: not all there, not of one shape and floating dtype, or
// none.
std::vector<Tensor> sum_together(std::span<const Tensor> parts, std::size_t jobs, Device target);

// The same, one by one where that cannot be.
std::vector<Tensor> sum_parts(const std::vector<Tensor>& parts, std::size_t jobs, Device target);

// The values of each tensor on each device, laid out as above; the tensor itself where it is there
// already. What the provider cannot do together is copied one by one.
std::vector<Tensor> copy_together(const std::vector<Tensor>& tensors,
                                  const std::vector<Device>& devices);

}  // namespace rushlight
