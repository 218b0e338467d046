// The words in which a pointwise op is declared. Every struct of this folder has
//
//   signature  inputs are the names without a default, parameters those with one
//   doc        what it computes; then, after ">>>", an example that the tests run
//   save       per gradient, what backward() reads: saved inputs, the output
//   forward    the formula; backward: gradients, given g, then what `save` names (inputs in order,
//              the output last), then the parameters. No backward: not differentiable
//
// and, where the default does not hold: takes, published, node (name of the gradient), domain,
// kernel and refusal (words of errors), divides, angle, promotes_bool (x * x of bools is int64),
// tensors_only (torch takes no number there).
// T is float or double in a kernel, Integer where the op takes integers, and Value (a tensor or a
// number, csrc/ops/value.h) when the gradient itself must be differentiable. So a formula makes
// constants as T(2); has no `if`, `?:`, `&&`; calls only functions of math.h; and where another
// op's formula occurs in a gradient, calls that op by name, so that the second derivative uses that
// op's own, stable gradient. where() evaluates both sides: neither may be inf * 0.
#pragma once
#include "../math.h"

namespace rushlight {

namespace Save {
inline constexpr unsigned input = 1, other = 2, third = 4, output = 8;
}
struct Saves {
  unsigned of[3] = {0, 0, 0};
  constexpr unsigned all() const { return of[0] | of[1] | of[2]; }
};

// Which dtypes an op computes in. A result keeps its inputs' common dtype, except that `converted`
// makes integers floating (exp of int64 is float32) and that a forward returning bool gives bool.
enum class Takes : unsigned char { floating, converted, numbers, anything, integers, shifts };

// Where an op appears in Python; `inner` ones are called by others.
enum class Published : unsigned char { everywhere, function, functional, inner };

struct Domain {  // where tests draw samples from; (-3, 3) unless declared
  double low, high;
};

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

template <class... Ops>
struct OpList {};

}  // namespace rushlight
