// Steps of the optimizers, over a whole list of parameters in one call. A changer must know: the
// tensors of one item have the same dtype and the same dense layout, so an element's place is the
// same in all of them; items may name the same memory twice, so they are worked on in order.
#pragma once
#include "view.h"

namespace rushlight {

struct SgdItem {
  View param, grad;
  View buffer;  // the momentum; unused where SgdSettings::momentum is 0
  bool fresh;   // the buffer has no value yet and becomes the gradient
};

struct SgdSettings {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
};

struct AdamItem {
  View param, grad;
  View mean, square;  // running means of the gradient and of its square
  View largest;       // of all squares so far; unused without AdamSettings::amsgrad
  double step_size;   // lr / (1 - beta1^t)
  double correction;  // sqrt(1 - beta2^t)
};

struct AdamSettings {
  double beta1, beta2, eps;
  double weight_decay;  // added to the gradient, times the parameter
  double shrink;        // the parameter is multiplied by this first (AdamW); else 1
  bool amsgrad, maximize;
};

struct OptimKernels {
  void (*sgd)(const SgdItem* items, std::int64_t count, const SgdSettings& settings);
  void (*adam)(const AdamItem* items, std::int64_t count, const AdamSettings& settings);
};

extern const OptimKernels cpu_optim;

}  // namespace rushlight
