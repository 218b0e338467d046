// Gradients of pointwise ops of complex numbers. Each is that of torch, the derivative by the
// conjugate twice over: of a holomorphic f it is grad times the conjugate of f'.
#include "checks.h"
#include "complex.h"

namespace rushlight {
namespace {

// An operand as its gradient needs it.
struct Kept {
  Saved tensor;
  Scalar number;
  Shape shape;
  DType dtype = DType::float32;

  // `overwritten`: what is read is a copy, with its history: the gradient's own gradient goes
  // there.
  Kept(const Input& in, bool reads, bool overwritten)
      : tensor(in.tensor && reads ? Saved(overwritten ? clone(*in.tensor) : *in.tensor) : Saved()),
        number(in.scalar) {
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
  const Tensor of = k.tensor.get();
  if (!is_complex(of.dtype())) return apply<Op>(g, of);
  if (!grad_enabled()) {
    using enum ComplexFormula;
    const Input in[] = {as_input(g), as_input(of)};
    const auto f = std::is_same_v<Op, Mul> ? conjugate_product : conjugate_quotient;
    if (Tensor out = of_pairs(f, in, 2, g.dtype())) return out;
  }
  return apply<Op>(g, conj(of));
}

Tensor gradient_of_one(const PointwiseOp& op, const Tensor& g, const Tensor& z) {
  if (is<Abs>(op)) return mul(apply<Sgn>(z), g);
  const Tensor inverse = inverse_or_zero(apply<Abs>(z));
  if (is<Sgn>(op)) {  // what is across the number turns it
    const Tensor unit = apply<Sgn>(z);
    return mul(sub(g, mul(unit, real(mul(g, conj(unit))))), inverse);
  }
  const Tensor turn = mul(g, apply<Square>(inverse));  // of angle
  return complex_of(neg(mul(imag(z), turn)), mul(real(z), turn));
}

Tensor masked(const Tensor& mask, const Tensor& g, bool holds) {
  return holds ? apply<Where>(mask, g, Scalar(0)) : apply<Where>(mask, Scalar(0), g);
}

// Where a number is 0 its powers do not change with the exponent, nor does any 0th with the number.
Tensor gradient_of_base(const Tensor& g, const Tensor& a, const Kept& b) {
  if (!b.tensor) {
    const double e = b.number.as_double();
    if (e == 0) return zeros_like(g);
    return mul(g, conj(mul(apply<Pow>(a, Scalar(e - 1)), b.number)));
  }
  const Tensor e = b.tensor.get();
  const Tensor to_a = mul(g, conj(mul(e, apply<Pow>(a, apply<Sub>(e, Scalar(1))))));
  return masked(apply<Eq>(e, Scalar(0)), to_a, false);
}
Tensor gradient_of_exponent(const Tensor& g, const Kept& a, const Tensor& e) {
  const Input base = a.tensor ? as_input(a.tensor.get()) : as_input(a.number);
  Tensor number;
  if (!base.tensor) number = scalar_tensor(base.scalar, g.dtype(), g.device());
  const Tensor x = base.tensor ? to(*base.tensor, g.dtype()) : number;
  const Tensor to_e = mul(g, conj(mul(apply<Pow>(x, e), apply<Log>(x))));
  const Tensor gone = apply<LogicalAnd>(apply<Eq>(x, Scalar(0)), apply<Ge>(real(e), Scalar(0)));
  return masked(gone, to_e, false);
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
  } else if (is<Pow>(op)) {
    if (of_a) to_a = gradient_of_base(g, a.tensor.get(), b);
    if (of_b) to_b = gradient_of_exponent(g, a, b.tensor.get());
  } else if (is<Rsub>(op)) {
    if (of_a) to_a = neg(scaled());
    to_b = g;
  } else {
    to_a = g;
    if (of_b) to_b = is<Add>(op) ? scaled() : neg(scaled());
  }
  return Gradients(of_a ? a.share(to_a) : Tensor(), of_b ? b.share(to_b) : Tensor());
}

}  // namespace

// `number_first`, `of_number`: such an operand is a number; `overwrites`: the result will be
// written to the first operand.
Tensor record_complex(const PointwiseOp& op, const Input* in, const Scalar* parameters, Tensor out,
                      bool number_first, bool of_number, bool overwrites) {
  const auto tensor = [&](int i) { return in[i].tensor ? *in[i].tensor : Tensor(); };
  if (is<Where>(op) || is<MaskedFill>(op)) {
    const bool fills = is<MaskedFill>(op);
    const int first = fills ? 0 : 1;
    return record(
        op.node, std::move(out),
        [mask = Saved(*in[fills ? 1 : 0].tensor), fills, a = Kept(in[first], false, false),
         b = Kept(in[2], false, false)](Tensor g) {
          const Tensor to_a = a.share(masked(mask.get(), g, !fills));
          const Tensor to_b = b.share(masked(mask.get(), g, fills));
          return fills ? Gradients(to_a, Tensor(), to_b) : Gradients(Tensor(), to_a, to_b);
        },
        tensor(0), tensor(1), tensor(2));
  }
  if (op.inputs == 1) {
    const auto* f = complex_function(op.name);
    if (f && f->of_result)
      return record(
          op.node, out,
          [f, w = SavedOutput(out)](Tensor g, Node& self) {
            return Gradients(mul(g, conj(f->slope(w.get(self)))));
          },
          tensor(0));
    if (f)
      return record(
          op.node, std::move(out),
          [f, z = Kept(in[0], true, overwrites)](Tensor g) {
            return Gradients(mul(g, conj(f->slope(z.tensor.get()))));
          },
          tensor(0));
    return record(
        op.node, std::move(out),
        [op = &op, kept = Kept(in[0], !is<Neg>(op), overwrites)](Tensor g) {
          return Gradients(is<Neg>(*op) ? neg(g) : gradient_of_one(*op, g, kept.tensor.get()));
        },
        tensor(0));
  }
  const bool reads = is<Mul>(op) || is<Div>(op) || is<Pow>(op);
  const bool of_base = !in[0].tensor || number_first;
  const char* node = is<Rsub>(op)   ? (of_number ? op.node : "RsubBackward0")
                     : !is<Pow>(op) ? op.node
                     : of_base      ? "PowBackward2"
                     : of_number    ? "PowBackward0"
                                    : "PowBackward1";
  return record(
      node, std::move(out),
      [op = &op, a = Kept(in[0], reads, overwrites), b = Kept(in[1], reads, false),
       alpha = op.parameters ? parameters[0] : Scalar(1)](Tensor g, Node& self) {
        return gradients_of_two(*op, g, a, b, alpha, self);
      },
      tensor(0), tensor(1));
}

}  // namespace rushlight
