// The elementary functions of complex numbers in parts, and their derivatives. The inverse ones
// are Kahan's ("Branch cuts for complex elementary functions"), which keep the sign of zero.
#include <algorithm>

#include "complex.h"

namespace rushlight {

namespace {

using C = ComplexNumber;

Value asinh(const Value& x) { return apply_to_values<Asinh>(x); }
Value atan2(const Value& y, const Value& x) { return apply_to_values<Atan2>(y, x); }
Value is_infinite(const Value& x) { return abs(x) == Value(kInfinity<double>); }
C turned(const C& z) { return {-z.im, z.re}; }       // i z
C turned_back(const C& z) { return {z.im, -z.re}; }  // -i z
C scaled(const C& z, double by) { return {z.re * Value(by), z.im * Value(by)}; }
const C kUnit{Value(1), Value(0)};

// A factor that is 0 wins over one that is infinite or no number.
Value times(const Value& a, const Value& b) {
  const Value product = a * b, lost = product != product;
  return where(lost & (a == Value(0)), a, where(lost & (b == Value(0)), b, product));
}
C sin(const C& z) { return {times(sin(z.re), cosh(z.im)), times(cos(z.re), sinh(z.im))}; }
C cos(const C& z) { return {times(cos(z.re), cosh(z.im)), -times(sin(z.re), sinh(z.im))}; }
C sinh(const C& z) { return turned_back(sin(turned(z))); }
C cosh(const C& z) { return cos(turned(z)); }
C tanh(const C& z) {
  const Value s = sinh(z.re), sine = sin(z.im), cosine = cos(z.im), t = sine / cosine;
  const Value beta = Value(1) + t * t, d = Value(1) + beta * s * s;
  const Value far = abs(z.re) > Value(20);  // where the real part is 1
  const Value left =
      where(is_infinite(z.im), Value(0), Value(4) * sine * cosine * exp(Value(-2) * abs(z.re)));
  return {where(far, with_sign_of(Value(1), z.re), beta * sqrt(Value(1) + s * s) * s / d),
          where(far, left, t / d)};
}
C tan(const C& z) { return turned_back(tanh(turned(z))); }

// The sides of asin and its like: sqrt(1 - z) and sqrt(1 + z).
C root_of_less(const C& z) { return sqrt(C{Value(1) - z.re, -z.im}); }
C root_of_more(const C& z) { return sqrt(C{Value(1) + z.re, z.im}); }

C asin(const C& z) {
  const C a = root_of_less(z), b = root_of_more(z);
  const Value far = is_infinite(z.re) | is_infinite(z.im);
  const Value angle = with_sign_of(atan2(abs(z.re), abs(z.im)), z.re);
  return {
      where(far, angle, atan2(z.re, a.re * b.re - a.im * b.im)),
      where(far, with_sign_of(Value(kInfinity<double>), z.im), asinh(a.re * b.im - a.im * b.re))};
}
C acos(const C& z) {
  const C a = root_of_less(z), b = root_of_more(z);
  const Value far = is_infinite(z.re) | is_infinite(z.im);
  return {
      where(far, atan2(abs(z.im), z.re), Value(2) * atan2(a.re, b.re)),
      where(far, -with_sign_of(Value(kInfinity<double>), z.im), asinh(b.re * a.im - b.im * a.re))};
}
C asinh(const C& z) { return turned_back(asin(turned(z))); }
C acosh(const C& z) {
  const C a = sqrt(C{z.re - Value(1), z.im}), b = root_of_more(z);
  const Value far = is_infinite(z.re) | is_infinite(z.im);
  return {where(far, Value(kInfinity<double>), asinh(a.re * b.re + a.im * b.im)),
          where(far, atan2(z.im, z.re), Value(2) * atan2(a.im, b.re))};
}
C atanh(const C& z) {
  const Value x = abs(z.re), less = Value(1) - x, square = z.im * z.im;
  const Value re = Value(0.25) * log1p(Value(4) * x / (less * less + square));
  const Value im = Value(0.5) * atan2(Value(2) * z.im, less * (Value(1) + x) - square);
  const Value far = is_infinite(z.re) | is_infinite(z.im);
  return {with_sign_of(where(far, Value(0), re), z.re),
          where(far, with_sign_of(Value(kPi<double> / 2), z.im), im)};
}
C atan(const C& z) { return turned_back(atanh(turned(z))); }

constexpr double kLog2 = 0.69314718055994530942, kLog10 = 2.30258509299404568402;

C exp2(const C& z) { return exp(scaled(z, kLog2)); }
C expm1(const C& z) {
  const Value half = sin(z.im * Value(0.5)), less = apply_to_values<Expm1>(z.re);
  return {less * cos(z.im) - Value(2) * half * half,
          where(z.im == Value(0), z.im, exp(z.re) * sin(z.im))};
}
C log2(const C& z) { return scaled(log(z), 1 / kLog2); }
C log10(const C& z) { return scaled(log(z), 1 / kLog10); }
// Near 0 the size of 1 + z is that of its square less 1, which is computed without loss.
C log1p(const C& z) {
  const Value near = (abs(z.re) < Value(0.5)) & (abs(z.im) < Value(0.5));
  const C other = log(C{Value(1) + z.re, z.im});
  const Value less = z.re * (Value(2) + z.re) + z.im * z.im;
  return {where(near, Value(0.5) * log1p(less), other.re), other.im};
}
C rsqrt(const C& z) { return kUnit / sqrt(z); }
C sigmoid(const C& z) { return kUnit / (kUnit + exp(C{-z.re, -z.im})); }
C silu(const C& z) { return z * sigmoid(z); }
C reciprocal(const C& z) { return kUnit / z; }
C square(const C& z) { return z * z; }

Tensor one_plus(const Tensor& t) { return apply<Add>(t, Scalar(1)); }
Tensor one_less(const Tensor& t) { return apply<Rsub>(t, Scalar(1)); }
Tensor inverse(const Tensor& t) { return apply<Reciprocal>(t); }
Tensor squared(const Tensor& t) { return apply<Square>(t); }

Tensor slope_of_silu(const Tensor& t) {
  const Tensor s = apply<Sigmoid>(t);
  return mul(s, one_plus(mul(t, one_less(s))));
}

constexpr bool kOfResult = true, kInDouble = true;
constexpr ComplexFunction kFunctions[] = {
    {"exp", exp, [](const Tensor& t) { return t; }, kOfResult, !kInDouble},
    {"exp2", exp2, [](const Tensor& t) { return mul(t, Scalar(kLog2)); }, kOfResult, !kInDouble},
    {"expm1", expm1, [](const Tensor& t) { return one_plus(t); }, kOfResult, kInDouble},
    {"log", log, [](const Tensor& t) { return inverse(t); }, !kOfResult, kInDouble},
    {"log2", log2, [](const Tensor& t) { return inverse(mul(t, Scalar(kLog2))); }, !kOfResult,
     kInDouble},
    {"log10", log10, [](const Tensor& t) { return inverse(mul(t, Scalar(kLog10))); }, !kOfResult,
     kInDouble},
    {"log1p", log1p, [](const Tensor& t) { return inverse(one_plus(t)); }, !kOfResult, kInDouble},
    {"sqrt", sqrt, [](const Tensor& t) { return mul(inverse(t), Scalar(0.5)); }, kOfResult,
     kInDouble},
    {"rsqrt", rsqrt, [](const Tensor& t) { return mul(mul(squared(t), t), Scalar(-0.5)); },
     kOfResult, kInDouble},
    {"sin", sin, [](const Tensor& t) { return apply<Cos>(t); }, !kOfResult, !kInDouble},
    {"cos", cos, [](const Tensor& t) { return neg(apply<Sin>(t)); }, !kOfResult, !kInDouble},
    {"tan", tan, [](const Tensor& t) { return one_plus(squared(t)); }, kOfResult, kInDouble},
    {"sinh", sinh, [](const Tensor& t) { return apply<Cosh>(t); }, !kOfResult, !kInDouble},
    {"cosh", cosh, [](const Tensor& t) { return apply<Sinh>(t); }, !kOfResult, !kInDouble},
    {"tanh", tanh, [](const Tensor& t) { return one_less(squared(t)); }, kOfResult, kInDouble},
    {"asin", asin, [](const Tensor& t) { return apply<Rsqrt>(one_less(squared(t))); }, !kOfResult,
     kInDouble},
    {"acos", acos, [](const Tensor& t) { return neg(apply<Rsqrt>(one_less(squared(t)))); },
     !kOfResult, kInDouble},
    {"atan", atan, [](const Tensor& t) { return inverse(one_plus(squared(t))); }, !kOfResult,
     kInDouble},
    {"asinh", asinh, [](const Tensor& t) { return apply<Rsqrt>(one_plus(squared(t))); }, !kOfResult,
     kInDouble},
    {"acosh", acosh,
     [](const Tensor& t) {
       return mul(apply<Rsqrt>(one_plus(t)), apply<Rsqrt>(apply<Sub>(t, Scalar(1))));
     },
     !kOfResult, kInDouble},
    {"atanh", atanh, [](const Tensor& t) { return inverse(one_less(squared(t))); }, !kOfResult,
     kInDouble},
    {"sigmoid", sigmoid, [](const Tensor& t) { return mul(t, one_less(t)); }, kOfResult, kInDouble},
    {"silu", silu, [](const Tensor& t) { return slope_of_silu(t); }, !kOfResult, kInDouble},
    {"reciprocal", reciprocal, [](const Tensor& t) { return neg(squared(t)); }, kOfResult,
     !kInDouble},
    {"square", square, [](const Tensor& t) { return mul(t, Scalar(2)); }, !kOfResult, !kInDouble},
};

}  // namespace

const ComplexFunction* complex_function(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &ComplexFunction::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace rushlight
