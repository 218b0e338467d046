// Value: a tensor or a scalar, the T with which a formula becomes differentiable itself. T(1) stays
// a scalar, so constants and parameters make no tensors, and arithmetic between scalars is done at
// once. Value > Value holds a bool tensor, which is why formulas write Bool<T> and where(). The
// list below mirrors kernels/math/: the one other place that a new op may touch, and only if its
// *gradient* calls a function that no gradient has called before.
#pragma once
#include "kernels/math/real.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {

class Value {
 public:
  Value(double scalar = 0) : scalar_(scalar) {}
  Value(Tensor tensor) : tensor_(std::move(tensor)) {}
  const Tensor& tensor() const { return tensor_; }
  bool is_scalar() const { return !tensor_; }
  double scalar() const { return scalar_; }
  Input input() const {
    if (tensor_) return {&tensor_, {}};
    return {nullptr, Scalar(scalar_)};
  }

 private:
  Tensor tensor_;
  double scalar_ = 0;
};

template <class Op, class... V>
Value apply_to_values(const V&... v) {
  if ((v.is_scalar() && ...)) {
    const double scalars[] = {v.scalar()...};
    return pointwise_op<Op>().of_scalars(scalars);
  }
  const Input inputs[] = {v.input()...};
  const Scalar one(1);  // the parameter of add and sub: alpha
  return pointwise(pointwise_op<Op>(), inputs, &one);
}

template <class Op, class... More>
Value call(const Value& x, const More&... more) {
  return apply_to_values<Op>(x, more...);
}

inline Value operator-(const Value& a) { return apply_to_values<Neg>(a); }
inline Value operator+(const Value& a, const Value& b) { return apply_to_values<Add>(a, b); }
inline Value operator-(const Value& a, const Value& b) { return apply_to_values<Sub>(a, b); }
inline Value operator*(const Value& a, const Value& b) { return apply_to_values<Mul>(a, b); }
inline Value operator/(const Value& a, const Value& b) { return apply_to_values<Div>(a, b); }
inline Value operator>(const Value& a, const Value& b) { return apply_to_values<Gt>(a, b); }
inline Value operator<(const Value& a, const Value& b) { return apply_to_values<Lt>(a, b); }
inline Value operator>=(const Value& a, const Value& b) { return apply_to_values<Ge>(a, b); }
inline Value operator<=(const Value& a, const Value& b) { return apply_to_values<Le>(a, b); }
inline Value operator==(const Value& a, const Value& b) { return apply_to_values<Eq>(a, b); }
inline Value operator!=(const Value& a, const Value& b) { return apply_to_values<Ne>(a, b); }
inline Value operator&(const Value& a, const Value& b) { return apply_to_values<LogicalAnd>(a, b); }
inline Value operator|(const Value& a, const Value& b) { return apply_to_values<LogicalOr>(a, b); }
inline Value abs(const Value& a) { return apply_to_values<Abs>(a); }
inline Value exp(const Value& a) { return apply_to_values<Exp>(a); }
inline Value log(const Value& a) { return apply_to_values<Log>(a); }
inline Value log1p(const Value& a) { return apply_to_values<Log1p>(a); }
inline Value sqrt(const Value& a) { return apply_to_values<Sqrt>(a); }
inline Value sin(const Value& a) { return apply_to_values<Sin>(a); }
inline Value cos(const Value& a) { return apply_to_values<Cos>(a); }
inline Value cos_pi(const Value& a) { return cos(a * Value(kPi<double>)); }
inline Value sinh(const Value& a) { return apply_to_values<Sinh>(a); }
inline Value cosh(const Value& a) { return apply_to_values<Cosh>(a); }
inline Value tanh(const Value& a) { return apply_to_values<Tanh>(a); }
inline Value erf(const Value& a) { return apply_to_values<Erf>(a); }
inline Value normal_cdf(const Value& a) {
  return Value(0.5) * (Value(1) + erf(a * Value(0.707106781186547524401)));
}
inline Value sigmoid(const Value& a) { return apply_to_values<Sigmoid>(a); }
inline Value digamma(const Value& a) { return apply_to_values<Digamma>(a); }
inline Value floor(const Value& a) { return apply_to_values<Floor>(a); }
inline Value round(const Value& a) { return apply_to_values<Round>(a); }
inline Value trunc(const Value& a) { return apply_to_values<Trunc>(a); }
inline Value pow(const Value& a, const Value& b) { return apply_to_values<Pow>(a, b); }
inline Value floor_divide(const Value& a, const Value& b) {
  return apply_to_values<DivFloor>(a, b);
}
inline Value where(const Value& condition, const Value& a, const Value& b) {
  if (condition.is_scalar()) return condition.scalar() ? a : b;
  const Input inputs[] = {condition.input(), a.input(), b.input()};
  return pointwise(pointwise_op<Where>(), inputs);
}
inline Value polygamma(const Value& order, const Value& x) {
  const Input input = x.input();
  const Scalar n(order.scalar());
  return pointwise(pointwise_op<Polygamma>(), &input, &n);
}
inline Value sum_of_lgamma(const Value& x, const Value& n, const Value& p) {
  const Input input = x.input();
  const Scalar parameters[] = {Scalar(n.scalar()), Scalar(p.scalar())};
  return pointwise(pointwise_op<Mvlgamma>(), &input, parameters);
}
inline Value softplus(const Value& x) {
  const Input input = x.input();
  const Scalar parameters[] = {Scalar(1.0), Scalar(kInfinity<double>)};  // beta, threshold
  return pointwise(pointwise_op<Softplus>(), &input, parameters);
}

}  // namespace rushlight
