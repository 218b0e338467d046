// Every pointwise op, forward and gradient, for every device and every use: kernels, autograd,
// double backward, the Python function, method, in-place method, out=, docstring and tests follow
// from one struct. To add one: write the struct in the file of its topic and name it in that file's
// list; the words of a struct are in pointwise/declare.h.
#pragma once
#include "pointwise/activation.h"
#include "pointwise/arithmetic.h"
#include "pointwise/bessel.h"
#include "pointwise/comparison.h"
#include "pointwise/exponential.h"
#include "pointwise/loss.h"
#include "pointwise/orthogonal.h"
#include "pointwise/selection.h"
#include "pointwise/special.h"
#include "pointwise/trigonometric.h"

namespace rushlight {

template <class... Lists>
struct Concatenated;
template <class... Ops>
struct Concatenated<OpList<Ops...>> {
  using type = OpList<Ops...>;
};
template <class... A, class... B, class... Rest>
struct Concatenated<OpList<A...>, OpList<B...>, Rest...>
    : Concatenated<OpList<A..., B...>, Rest...> {};

// In the order of every table: csrc/ops/pointwise/table.cpp and the devices' kernels.
using PointwiseOps =
    Concatenated<ArithmeticOps, SelectionOps, ComparisonOps, ExponentialOps, TrigonometricOps,
                 ActivationOps, LossOps, SpecialOps, BesselOps, OrthogonalOps>::type;

template <class... Ops>
constexpr int op_count(OpList<Ops...>) {
  return int(sizeof...(Ops));
}

}  // namespace rushlight
