// Optimizer steps and clearing of gradients, over lists of parameters. Everything is checked before
// the first parameter is written.
#pragma once
#include <vector>

#include "core/tensor.h"
#include "kernels/optim_formulas.h"

namespace rushlight {

using Tensors = std::vector<Tensor>;

// The tensors of a step: in each list one for each parameter.
struct OptimTensors {
  Tensors params, grads;
  std::vector<const char*> names;  // of the states, for errors
  std::vector<Tensors> states;  // F::states() of them; an undefined one is made
  Tensors steps;  // one number each, counted up by 1; unless F counts no steps
  std::vector<Tensors> scalars;  // F::kScalars of them: one number each
};

// One step of the optimizer F of kernels/optim_formulas.h, in one kernel call for each device.
template <class F>
void optim_step(const char* op, const F& settings, OptimTensors& tensors);
// The same as tensor operations that autograd records, in place, for differentiable=True.
template <class F>
void optim_step_recorded(const char* op, const F& settings, OptimTensors& tensors);

// .grad becomes None, or is filled with 0.
// Takes the entries of a sparse gradient away: set by the bindings.
inline void (*clear_sparse)(const Tensor& grad) = nullptr;
void zero_grad(const Tensors& params, bool set_to_none);

}  // namespace rushlight
