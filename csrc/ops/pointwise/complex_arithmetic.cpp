// Arithmetic, exponentials and powers of complex numbers in parts. What C's complex functions say
// of signed zeros and infinities holds here too.
#include "complex.h"

namespace rushlight {

ComplexNumber operator+(const ComplexNumber& a, const ComplexNumber& b) {
  return {a.re + b.re, a.im + b.im};
}
ComplexNumber operator-(const ComplexNumber& a, const ComplexNumber& b) {
  return {a.re - b.re, a.im - b.im};
}
// sum + sign * x * y, of tensors in one pass.
static Value with_product(const Value& sum, const Value& x, const Value& y, double sign) {
  if (sum.is_scalar() || x.is_scalar() || y.is_scalar()) return sum + Value(sign) * x * y;
  const Input inputs[] = {sum.input(), x.input(), y.input()};
  const Scalar value(sign);
  return pointwise(pointwise_op<Addcmul>(), inputs, &value);
}
ComplexNumber operator*(const ComplexNumber& a, const ComplexNumber& b) {
  return {with_product(a.re * b.re, a.im, b.im, -1), with_product(a.re * b.im, a.im, b.re, 1)};
}
ComplexNumber operator/(const ComplexNumber& a, const ComplexNumber& b) { return quotient(a, b); }

ComplexNumber exp(const ComplexNumber& z) {
  const Value size = exp(z.re), gone = size == Value(0);
  return {where(gone, size, size * cos(z.im)),
          where(z.im == Value(0), z.im, where(gone, size, size * sin(z.im)))};
}

// Near 1 the logarithm of the size is that of its square less 1, which is computed without loss.
ComplexNumber log(const ComplexNumber& z) {
  const Value x = abs(z.re), y = abs(z.im), wide = x >= y;
  const Value large = where(wide, x, y), small = where(wide, y, x);
  const Value size = apply_to_values<Hypot>(x, y);
  const Value near = (size > Value(0.5)) & (size < Value(2));
  const Value less = (large - Value(1)) * (large + Value(1)) + small * small;
  return {where(near, Value(0.5) * log1p(less), log(size)), apply_to_values<Atan2>(z.im, z.re)};
}

ComplexNumber sqrt(const ComplexNumber& z) {
  const Value size = apply_to_values<Hypot>(z.re, z.im);
  const Value root = sqrt((abs(z.re) + size) * Value(0.5)), none = root == Value(0);
  const Value other = where(none, z.im, z.im / where(none, Value(1), root + root));
  const Value right = z.re >= Value(0), far = abs(z.im) == Value(kInfinity<double>);
  return {where(far, abs(z.im), where(right, root, abs(other))),
          where(far, z.im, where(right, other, with_sign_of(root, z.im)))};
}

// 0 to the power of 0 is 1, and to a power whose real part is positive 0.
ComplexNumber pow(const ComplexNumber& a, const ComplexNumber& b) {
  const ComplexNumber out = exp(b * log(a));
  const Value zero = (a.re == Value(0)) & (a.im == Value(0));
  const Value one = (b.re == Value(0)) & (b.im == Value(0)), gone = zero & (b.re > Value(0));
  return {where(one, Value(1), where(gone, Value(0), out.re)), where(one | gone, Value(0), out.im)};
}

}  // namespace rushlight
