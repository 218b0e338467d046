// What a lambda captures and is no tensor: its node can run again after backward freed the graph.
#pragma once
#include <type_traits>
#include <utility>

#include "autograd/showing.h"

namespace rushlight {

// A lambda that keeps sizes or dtypes in lists, and no tensor. As in torch, what saved nothing can
// run again; of a lambda that captures a list, its type does not tell.
template <class F>
struct Repeatable : F {
  using F::operator();
};
template <class F>
Repeatable<std::decay_t<F>> repeatable(F&& f) {
  return {std::forward<F>(f)};
}
template <class F>
inline constexpr bool kIsFreed<Repeatable<F>> = false;

}  // namespace rushlight
