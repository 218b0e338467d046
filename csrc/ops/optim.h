// Optimizer steps and clearing of gradients, over lists of parameters. Everything is checked before
// the first parameter is written; nothing is recorded.
#pragma once
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "kernels/optim.h"

namespace rushlight {

using Tensors = std::vector<Tensor>;

// Writes params and buffers. `buffers` is empty without momentum, else one for each parameter,
// undefined at its first step; returns those that were made, with their positions.
std::vector<std::pair<std::int64_t, Tensor>> sgd_step(const Tensors& params, const Tensors& grads,
                                                      const Tensors& buffers,
                                                      const SgdSettings& settings);

struct AdamRun {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled, maximize;
};
// `largest` is empty without amsgrad. Every tensor of `steps` holds one number, counted up by 1.
void adam_step(const Tensors& params, const Tensors& grads, const Tensors& means,
               const Tensors& squares, const Tensors& largest, const Tensors& steps,
               const AdamRun& run);

// .grad becomes None, or is filled with 0.
void zero_grad(const Tensors& params, bool set_to_none);

}  // namespace rushlight
