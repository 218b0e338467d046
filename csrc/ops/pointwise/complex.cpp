// Arithmetic of complex numbers, written as formulas of their real and imaginary parts: the kernels
// compute with real numbers only. Each gradient is that of torch, the derivative by the conjugate
// twice over: of a holomorphic f it is grad times the conjugate of f'.
#include "checks.h"
#include "core/device.h"
#include "ops/value.h"

namespace rushlight {
namespace {

struct Number {  // in parts, each a tensor or a scalar
  Value re, im;
};

Number operator+(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
Number operator-(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
Number operator*(const Number& a, const Number& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// The quotient of the divisor's parts, the smaller by the larger, cannot overflow (Smith's method).
// By 0 each part is divided alone.
Number operator/(const Number& a, const Number& b) {
  const Value wide = abs(b.re) >= abs(b.im);
  const Value large = where(wide, b.re, b.im), small = where(wide, b.im, b.re);
  const Value none = large == Value(0), ratio = where(none, large, small / large);
  const Value scale = Value(1) / where(none, abs(large), large + small * ratio);
  const Value re = where(wide, a.re + a.im * ratio, a.re * ratio + a.im);
  const Value im = where(wide, a.im - a.re * ratio, a.im * ratio - a.re);
  return {where(none, a.re, re) * scale, where(none, a.im, im) * scale};
}

Number number_of(const Input& in, DType dtype) {
  if (!in.tensor) return {Value(in.scalar.as_double()), Value(0)};
  if (!is_complex(in.tensor->dtype())) return {Value(to(*in.tensor, real_of(dtype))), Value(0)};
  const Tensor t = to(*in.tensor, dtype);
  return {Value(real(t)), Value(imag(t))};
}

Tensor tensor_of(const Number& n) {
  if (n.im.is_scalar()) return complex_of(n.re.tensor(), zeros_like(n.re.tensor()));
  return complex_of(n.re.tensor(), n.im.tensor());
}

template <class Op>
bool is(const PointwiseOp& op) {
  return op.index == pointwise_op<Op>().index;
}

Tensor inverse_or_zero(const Tensor& size) {
  return apply<Where>(apply<Eq>(size, Scalar(0)), zeros_like(size), apply<Reciprocal>(size));
}

// f(inputs) without history; undefined where no formula is here.
Tensor value_of(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype) {
  const GradMode off(false);
  const Number a = number_of(in[0], dtype);
  if (is<Abs>(op)) return apply<Hypot>(a.re.tensor(), a.im.tensor());
  if (is<Angle>(op)) return apply<Atan2>(a.im.tensor(), a.re.tensor());
  if (is<Neg>(op)) return tensor_of({-a.re, -a.im});
  if (is<Sgn>(op)) return mul(*in[0].tensor, inverse_or_zero(apply<Abs>(*in[0].tensor)));
  if (is<Square>(op)) return tensor_of(a * a);
  if (is<Reciprocal>(op)) return tensor_of(Number{Value(1), Value(0)} / a);
  if (op.inputs != 2) return {};
  const Number b = number_of(in[1], dtype);
  if (is<Mul>(op)) return tensor_of(a * b);
  if (is<Div>(op)) return tensor_of(a / b);
  if (is<Eq>(op)) return ((a.re == b.re) & (a.im == b.im)).tensor();
  if (is<Ne>(op)) return ((a.re != b.re) | (a.im != b.im)).tensor();
  const double alpha = op.parameters ? parameters[0].as_double() : 1;
  const auto scaled = [alpha](const Number& n) {
    return alpha == 1 ? n : Number{n.re * Value(alpha), n.im * Value(alpha)};
  };
  if (is<Add>(op)) return tensor_of(a + scaled(b));
  if (is<Sub>(op)) return tensor_of(a - scaled(b));
  if (is<Rsub>(op)) return tensor_of(b - scaled(a));
  return {};
}

// An operand as its gradient needs it.
struct Kept {
  Saved tensor;
  Scalar number;
  Shape shape;
  DType dtype = DType::float32;

  Kept(const Input& in, bool reads)
      : tensor(in.tensor && reads ? Saved(*in.tensor) : Saved()), number(in.scalar) {
    if (!in.tensor) return;
    shape = in.tensor->shape();
    dtype = in.tensor->dtype();
  }
  // The share of the operand in the gradient g: its real part where the operand is real.
  Tensor share(const Tensor& g) const {
    return sum_to(to(is_complex(dtype) ? g : real(g), dtype), shape);
  }
};

// g times the conjugate of an operand, or divided by it.
template <class Op>
Tensor by_conjugate(const Tensor& g, const Kept& k) {
  if (!k.tensor) return apply<Op>(g, k.number);
  return apply<Op>(g, conj(k.tensor.get()));
}

Tensor gradient_of_one(const PointwiseOp& op, const Tensor& g, const Kept& kept) {
  if (is<Neg>(op)) return neg(g);
  const Tensor z = kept.tensor.get();
  if (is<Square>(op)) return mul(mul(g, conj(z)), Scalar(2));
  if (is<Reciprocal>(op)) return neg(mul(g, conj(apply<Square>(apply<Reciprocal>(z)))));
  const Tensor inverse = inverse_or_zero(apply<Abs>(z));
  if (is<Abs>(op)) return mul(z, mul(g, inverse));
  if (is<Sgn>(op)) {  // what is across the number turns it
    const Tensor unit = apply<Sgn>(z);
    return mul(sub(g, mul(unit, real(mul(g, conj(unit))))), inverse);
  }
  const Tensor turn = mul(g, apply<Square>(inverse));  // of angle
  return complex_of(neg(mul(imag(z), turn)), mul(real(z), turn));
}

Gradients gradients_of_two(const PointwiseOp& op, const Tensor& g, const Kept& a, const Kept& b,
                           Scalar alpha, const Node& self) {
  const bool of_a = self.needs_input(0), of_b = self.needs_input(1);
  const auto scaled = [&] { return mul(g, alpha); };
  Tensor to_a, to_b;
  if (is<Mul>(op)) {
    if (of_a) to_a = by_conjugate<Mul>(g, b);
    if (of_b) to_b = by_conjugate<Mul>(g, a);
  } else if (is<Div>(op)) {
    to_a = by_conjugate<Div>(g, b);
    if (of_b)  // a / b is the share of b in its quotient again
      to_b = neg(by_conjugate<Div>(by_conjugate<Mul>(to_a, a), b));
  } else if (is<Rsub>(op)) {
    if (of_a) to_a = neg(scaled());
    to_b = g;
  } else {
    to_a = g;
    if (of_b) to_b = is<Add>(op) ? scaled() : neg(scaled());
  }
  return Gradients(of_a ? a.share(to_a) : Tensor(), of_b ? b.share(to_b) : Tensor());
}

Tensor recorded(const PointwiseOp& op, const Input* in, const Scalar* parameters, Tensor out) {
  const Tensor a = in[0].tensor ? *in[0].tensor : Tensor();
  if (op.inputs == 1)
    return record(
        op.node, std::move(out),
        [op = &op, kept = Kept(in[0], !is<Neg>(op))](Tensor g) {
          return Gradients(gradient_of_one(*op, g, kept));
        },
        a);
  const Tensor b = in[1].tensor ? *in[1].tensor : Tensor();
  const bool reads = is<Mul>(op) || is<Div>(op);
  return record(
      is<Rsub>(op) && b ? "RsubBackward0" : op.node, std::move(out),
      [op = &op, a = Kept(in[0], reads), b = Kept(in[1], reads),
       alpha = op.parameters ? parameters[0] : Scalar(1)](Tensor g, Node& self) {
        return gradients_of_two(*op, g, a, b, alpha, self);
      },
      a, b);
}

}  // namespace

Tensor of_complex(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into) {
  DType common = result_type({in, std::size_t(op.inputs)});
  if (!is_complex(common)) common = into.target->dtype();  // of real operands, which have a kernel
  if (common == DType::complex32) refuse_stored(op.name, common);
  if (into.kind == Into::self && is<Abs>(op))
    fail<RuntimeError>("In-place abs is not supported for complex tensors.\nuse z.abs()");
  Tensor out = value_of(op, in, parameters, common);
  if (!out) refuse_stored(op.name, common);
  if (into.kind == Into::fresh) return recorded(op, in, parameters, std::move(out));
  bool records = false;
  for (int i = 0; i < op.inputs; ++i) records |= in[i].tensor && needs_grad(*in[i].tensor);
  check_target(op, into, out.shape(), out.dtype(), records);
  if (into.kind == Into::out) {
    resize_output(*into.target, out);
    copy_bits(*into.target, out);
    finish_inplace(*into.target);
    return *into.target;
  }
  copy_(*into.target, recorded(op, in, parameters, std::move(out)));
  return *into.target;
}

}  // namespace rushlight
