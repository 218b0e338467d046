// The layer between tensors and kernels, for all pointwise ops at once: promotion, broadcasting,
// saving, in place, out=. It is ordinary code that reads one constant row per op (PointwiseOp), so
// a new op adds no code here; only `backward_of_values`, the formula for tensors, is compiled per
// op.
#pragma once
#include "kernels/pointwise.h"
#include "kernels/pointwise/names.h"
#include "kernels/pointwise/words.h"
#include "ops/ops.h"

namespace rushlight {

class Value;

// What the struct of an op (kernels/pointwise/) says, at run time.
struct PointwiseOp {
  std::string_view name;
  const char *node, *signature, *doc;
  const char* node_of_number;  // where the last operand is a number; null: that of tensors
  const char* kernel;      // named in "not implemented for" errors; null: name + "_cpu"
  const char* refusal;     // what it says to dtypes it does not take; or null
  int index = -1;          // row in every device's kernel table; set when the library is loaded
  int inputs, parameters, gradients;
  Saves save;
  unsigned bool_inputs;
  bool bool_result, differentiable, promotes_bool, tensors_only, scalar_first, scalars_alone;
  bool in_double, constant, divides;
  bool fits;          // a number has to be one that the dtype holds
  bool exact;         // out= must have the dtype of the result
  Takes takes;
  Casts autocast;
  unsigned visible, in_place;  // bits of Visible
  unsigned passes;  // bits of inputs whose gradient is the incoming one
  const char *aliases, *no_gradient;  // or null
  Domain domain;
  // The struct's backward with T = Value: used when the gradient must itself be differentiable.
  void (*backward_of_values)(const Value* arguments, const Scalar* parameters, Value* gradients);
  double (*of_scalars)(const double* inputs);  // the formula, its parameters 1; or null
};

std::span<const PointwiseOp* const> pointwise_ops();  // in the order of the kernels' tables
// The row of one op, of which this needs no more than the name. pointwise_ops() fills it, at load.
template <class Op>
inline constinit const PointwiseOp* pointwise_row = nullptr;
template <class Op>
const PointwiseOp& pointwise_op() {
  return *pointwise_row<Op>;
}

// Where a result goes: y = f(x), x.f_(), f(x, out=y).
struct Into {
  enum Kind : std::uint8_t { fresh, self, out } kind = fresh;
  const Tensor* target = nullptr;
};

// `inputs` has op.inputs entries and `parameters` op.parameters. Shapes broadcast; the result has
// the broadcast shape.
Tensor pointwise(const PointwiseOp& op, const Input* inputs, const Scalar* parameters = nullptr,
                 Into into = {});

// The history of f(input), for an `out` that another kernel has computed.
Tensor record_pointwise(const PointwiseOp& op, const Tensor& input, Tensor out);

inline Input as_input(const Tensor& t) { return {&t, {}}; }
inline Input as_input(Scalar s) { return {nullptr, s}; }
inline Input as_input(const Input& i) { return i; }

// apply<Mul>(a, b): for other ops; parameters follow in braces where the op has some.
template <class Op, class... A>
Tensor apply(const A&... a) {
  const Input inputs[] = {as_input(a)...};
  const Scalar ones[kMaxParameters] = {Scalar(1), Scalar(1), Scalar(1)};
  return pointwise(pointwise_op<Op>(), inputs, ones);
}

// Ops whose Python signature says more than inputs and scalars (pointwise_variants.cpp).
Tensor div(Input input, Input other, std::optional<std::string_view> rounding_mode, Into into);
Tensor pow(Input input, Input exponent, Into into = {});
Tensor clamp(const Tensor& input, std::optional<Input> min, std::optional<Input> max,
             Into into = {});
Tensor round(const Tensor& input, std::int64_t decimals, Into into = {});
Tensor logit(const Tensor& input, std::optional<double> eps, Into into = {});
Tensor nan_to_num(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf, Into into = {});
Tensor polygamma(std::int64_t n, const Tensor& input, Into into = {});
Tensor mvlgamma(const Tensor& input, std::int64_t p, Into into = {});
Tensor nextafter(const Tensor& input, const Tensor& other, Into into = {});
Tensor float_power(Input input, Input exponent, Into into = {});
std::tuple<Tensor, Tensor> frexp(const Tensor& input);  // mantissa, exponent
Tensor positive(const Tensor& input);
Tensor where(const Tensor& condition, Input input, Input other, Into into = {});
Tensor masked_fill(const Tensor& input, const Tensor& mask, Input value, Into into = {});
Tensor gelu(const Tensor& input, std::string_view approximate, Into into = {});
Tensor prelu(const Tensor& input, const Tensor& weight);
Tensor glu(const Tensor& input, std::int64_t dim);
Tensor threshold(const Tensor& input, Scalar threshold, Scalar value, Into into = {});

// How pointwise ops pair dtypes with 0-d tensors and scalars; for where() and others (torch's
// result_type).
DType result_type(std::span<const Input> inputs);
// Makes `out` ready for a result of this shape: refuses, or resizes it with torch's warning.
void resize_output(const Tensor& out, const Shape& shape);
// The same for a result that is there: memory in the order of its dimensions.
void resize_output(const Tensor& out, const Tensor& like);
extern void (*warn)(const std::string& message);  // set by the bindings: a Python UserWarning

}  // namespace rushlight
