// Steps of the optimizers over a whole list of parameters in one call, and the table of kernels.
// Note: the tensors of one item have the same dtype and the same dense layout, so an element has
// the same index in all of them; items may name the same memory twice, so they are worked on in
// order. The formulas are in optim_formulas.h.
#pragma once
#include "view.h"

namespace rushlight {

namespace optim {
struct Sgd;
struct Adam;
struct Adadelta;
struct Adagrad;
struct Adamax;
struct Asgd;
struct NAdam;
struct RAdam;
struct RmsProp;
struct Rprop;
}  // namespace optim

// One parameter of a step of the optimizer F.
template <class F>
struct OptimItem {
  View param, grad;
  View state[F::kStates];   // the first F::states() are used
  typename F::Coefficients now;  // of this parameter's step
};
template <class F>
struct OptimKernel {
  void (*step)(const OptimItem<F>* items, std::int64_t count, const F& settings);
};

struct OptimKernels : OptimKernel<optim::Sgd>,
                      OptimKernel<optim::Adam>,
                      OptimKernel<optim::Adadelta>,
                      OptimKernel<optim::Adagrad>,
                      OptimKernel<optim::Adamax>,
                      OptimKernel<optim::Asgd>,
                      OptimKernel<optim::NAdam>,
                      OptimKernel<optim::RAdam>,
                      OptimKernel<optim::RmsProp>,
                      OptimKernel<optim::Rprop> {};

extern const OptimKernels cpu_optim;

}  // namespace rushlight
