// Gradients as Python sees them during a backward pass: hooks and Functions are given, for one
// gradient, one tensor, whose attributes and data they may change (engine.cpp).
#pragma once
#include <vector>

#include "autograd/node.h"

namespace rushlight {

Tensor seen_gradient(const Tensor& gradient);
// The gradient that goes on where a Function returned `seen`.
Tensor returned_gradient(const Tensor& seen);

// Of one pass: a tensor of its own for each gradient, the same one in all hooks, so that they may
// set its data to anything, now or later, and the formulas still get gradients of the shape they
// were made for. Where the pass itself is recorded, it is the gradient itself.
class SeenGradients {
 public:
  bool empty() const { return pairs_.empty(); }
  Tensor of(const Tensor& gradient) {
    if (grad_enabled() || gradient->sparse) return gradient;
    for (const Pair& p : pairs_)
      if (p.gradient.is_same(gradient) && same(p.seen.sizes(), gradient.sizes())) return p.seen;
    Tensor seen = alias(gradient);
    show(gradient, seen);
    return seen;
  }
  void show(const Tensor& gradient, const Tensor& seen) {
    forget_unused();
    forget(gradient);
    pairs_.push_back({gradient, seen});
  }
  Tensor returned(const Tensor& seen) {
    if (grad_enabled() || seen->sparse) return seen;
    for (const Pair& p : pairs_)
      if (p.seen.is_same(seen) && p.gradient->storage.get() == seen->storage.get() &&
          same(p.gradient.sizes(), seen.sizes()))
        return p.gradient;
    Tensor gradient = alias(seen);
    show(gradient, seen);
    return gradient;
  }
  // After a step: the gradients that only this list still has.
  void forget_unused() {
    drop([](const Pair& p) { return p.gradient->is_unique(); });
  }
  // Before a leaf gets its gradient, which it keeps if it is not shared.
  void forget(const Tensor& gradient) {
    drop([&](const Pair& p) { return p.gradient.is_same(gradient); });
  }

 private:
  struct Pair {
    Tensor gradient, seen;
  };
  template <class F>
  void drop(F&& which) {
    std::vector<Pair> gone;  // let go last: that may run Python
    std::erase_if(pairs_, [&](Pair& p) {
      const bool ends = which(p);
      if (ends) gone.push_back(std::move(p));
      return ends;
    });
  }
  std::vector<Pair> pairs_;
};

}  // namespace rushlight
