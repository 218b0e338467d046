// The words in which a pointwise op is declared. Every struct of this folder has
//
//   signature  inputs are the names without a default, parameters those with one
//   doc        what it computes; then, after ">>>", an example that the tests run
//   save       per gradient, what backward() reads: saved inputs, the output
//   forward    the formula; backward: gradients, given g, then what `save` names (inputs in order,
//              the output last), then the parameters. No backward: not differentiable
//
// and, where the default does not hold:
//
//   takes           the dtypes it computes in
//   visible         where Python has it: torch and Tensor. in_place: where Python has name_()
//   aliases         further names, separated by spaces: "absolute", "special.expit"
//   autocast        what torch.autocast does with its inputs
//   scalar_first    torch.remainder(7, x): the function takes a scalar as its first operand;
//   scalars_alone   torch.add(2, 3): also where no operand is a tensor
//   tensors_only    torch takes no scalar as a later operand
//   in_double       computed in double for every dtype and rounded once: for functions that loop
//                   or branch, which no vector unit speeds up. One kernel instead of two
//   clones          its loop on the CPU: of vectors if it has no branch, else of fused products
//   is_near         names the most usual elements, if a shorter formula, or one without a branch,
//   forward_near    serves them: the CPU's vectors compute this where others are rare
//   fits            a number that an integer dtype does not hold is refused, not wrapped
//   exact           out= must have the dtype of the result
//   constant        torch gives the result no history: it does not require a gradient
//   no_gradient     what torch's error calls the first input where it has no derivative for it
//   node, domain    the name of the gradient; where tests draw samples from
//   kernel, refusal words of errors
//   divides         an integer divisor may not be zero
//   angle           see math/trigonometric.h
//   promotes_bool   x * x of bools is int64
//   passes          bits of the inputs whose gradient is g itself, whatever the operands are
//   is_ramp         of a positive x it is x times a constant: the CPU then computes nothing else
//   of_integers  the answer of a test that is the same for every integer
//
// T is float or double in a kernel, Integer where the op takes integers, and Value (a tensor or a
// scalar, csrc/ops/value.h) when the gradient itself must be differentiable. So a formula makes
// constants as T(2); has no `if`, `?:`, `&&`; calls only functions of kernels/math/; and where
// another op's formula occurs in a gradient, calls that op by name, so that the second derivative
// uses that op's own, stable gradient. where() evaluates both sides: neither may be inf * 0.
#pragma once
#include "../math/integer.h"
#include "words.h"

namespace rushlight {

// Gradients with respect to the inputs of type T, in their order.
template <class T, int N>
struct Grads {
  T of[N];
};
template <class T>
using Bool = decltype(T(0) < T(0));  // bool for an element, Value for a tensor

template <class T>
HOST_DEVICE T positive_part(T x) {  // a NaN stays one
  return where(x < T(0), T(0), x);
}

// Another op's formula within one: call<I1>(x). Of tensors (csrc/ops/value.h) it is that op itself.
template <class Op, Real T, class... More>
HOST_DEVICE T call(T x, More... more) {
  return Op::forward(x, more...);
}

}  // namespace rushlight
