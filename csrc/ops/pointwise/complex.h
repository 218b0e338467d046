// Complex numbers in parts, and their elementary functions as formulas of real ones; and arithmetic
// by kernels of pairs, where a device has them.
#pragma once
#include "kernels/complex_formulas.h"
#include "ops/value.h"

namespace rushlight {

// Ops that only these formulas name.
struct Asinh;
struct Copysign;
struct Expm1;
struct Isfinite;

inline Value with_sign_of(const Value& size, const Value& sign) {
  return apply_to_values<Copysign>(size, sign);
}

using ComplexNumber = ComplexParts<Value>;  // each a tensor or a scalar
ComplexNumber operator+(const ComplexNumber& a, const ComplexNumber& b);
ComplexNumber operator-(const ComplexNumber& a, const ComplexNumber& b);
ComplexNumber operator*(const ComplexNumber& a, const ComplexNumber& b);
ComplexNumber operator/(const ComplexNumber& a, const ComplexNumber& b);
ComplexNumber exp(const ComplexNumber& z);
ComplexNumber log(const ComplexNumber& z);
ComplexNumber sqrt(const ComplexNumber& z);
ComplexNumber pow(const ComplexNumber& a, const ComplexNumber& b);

// A function with a derivative.
struct ComplexFunction {
  std::string_view name;  // that of the op
  ComplexNumber (*value)(const ComplexNumber& z);
  Tensor (*slope)(const Tensor& t);  // at z, of z itself or of the result
  bool of_result;
  bool in_double;  // of float32 its formula would keep too few digits
};
const ComplexFunction* complex_function(std::string_view name);  // or null

// ---- what the files of complex ops share
template <class Op>
bool is(const PointwiseOp& op) {
  return op.index == pointwise_op<Op>().index;
}
inline Tensor inverse_or_zero(const Tensor& size) {
  return apply<Where>(apply<Eq>(size, Scalar(0)), zeros_like(size), apply<Reciprocal>(size));
}
// Without history, by a kernel of pairs as they lie; undefined where the device has none
// (complex_pairs.cpp). Inputs become this complex dtype; the result goes to `target` if it is
// given.
Tensor of_pairs(ComplexFormula f, const Input* in, int inputs, DType dtype, double alpha = 1,
                const Tensor* target = nullptr);
// complex_gradients.cpp
Tensor record_complex(const PointwiseOp& op, const Input* in, const Scalar* parameters, Tensor out,
                      bool number_first, bool of_number, bool overwrites);

}  // namespace rushlight
