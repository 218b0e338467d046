// Pointwise ops of complex numbers, and their gradients. Each gradient is that of torch, the
// derivative by the conjugate twice over: of a holomorphic f it is grad times the conjugate of f'.
#include "complex.h"

#include "checks.h"
#include "core/device.h"

namespace rushlight {
namespace {

ComplexNumber number_of(const Input& in, DType dtype) {
  if (!in.tensor) return {Value(in.scalar.as_double()), Value(0)};
  if (!is_complex(in.tensor->dtype())) return {Value(to(*in.tensor, real_of(dtype))), Value(0)};
  const Tensor t = to(*in.tensor, dtype);
  return {Value(real(t)), Value(imag(t))};
}

// As complex numbers of this dtype.
Tensor tensor_of(const ComplexNumber& n, DType dtype) {
  const Tensor& some = n.re.is_scalar() ? n.im.tensor() : n.re.tensor();
  const auto part = [&](const Value& v) {
    return to(v.is_scalar() ? full_like(some, Scalar(v.scalar())) : v.tensor(), real_of(dtype));
  };
  return complex_of(part(n.re), part(n.im));
}

template <class Op>
bool is(const PointwiseOp& op) {
  return op.index == pointwise_op<Op>().index;
}

Tensor inverse_or_zero(const Tensor& size) {
  return apply<Where>(apply<Eq>(size, Scalar(0)), zeros_like(size), apply<Reciprocal>(size));
}

Value is_zero(const ComplexNumber& n) { return (n.re == Value(0)) & (n.im == Value(0)); }
Value is_other(const ComplexNumber& n) { return (n.re != Value(0)) | (n.im != Value(0)); }

// What asks a question of each number, or undefined.
Tensor answer_of(const PointwiseOp& op, const ComplexNumber& a) {
  const auto of_parts = [&]<class Part, class Join>() {
    return apply_to_values<Join>(apply_to_values<Part>(a.re), apply_to_values<Part>(a.im)).tensor();
  };
  if (op.name == "isnan") return of_parts.operator()<Isnan, LogicalOr>();
  if (op.name == "isinf") return of_parts.operator()<Isinf, LogicalOr>();
  if (op.name == "isfinite") return of_parts.operator()<Isfinite, LogicalAnd>();
  if (is<LogicalNot>(op)) return is_zero(a).tensor();
  return {};
}
Tensor answer_of(const PointwiseOp& op, const ComplexNumber& a, const ComplexNumber& b) {
  if (is<Eq>(op)) return ((a.re == b.re) & (a.im == b.im)).tensor();
  if (is<Ne>(op)) return ((a.re != b.re) | (a.im != b.im)).tensor();
  if (is<LogicalAnd>(op)) return (is_other(a) & is_other(b)).tensor();
  if (is<LogicalOr>(op)) return (is_other(a) | is_other(b)).tensor();
  if (is<LogicalXor>(op)) return (is_other(a) != is_other(b)).tensor();
  return {};
}

// Powers that are formulas of their own are computed without a logarithm.
ComplexNumber power(const ComplexNumber& a, const ComplexNumber& b) {
  if (!b.re.is_scalar()) return pow(a, b);
  const double e = b.re.scalar();
  const auto named = [&](std::string_view name) { return complex_function(name)->value(a); };
  if (e == 0) return {ones_like(a.re.tensor()), Value(0)};
  if (e == 1) return a;
  if (e == 2) return a * a;
  if (e == 3) return a * a * a;
  if (e == 0.5) return sqrt(a);
  if (e == -0.5) return named("rsqrt");
  if (e == -1) return named("reciprocal");
  return pow(a, b);
}

Tensor selected(const Tensor& mask, const Input& a, const Input& b, DType dtype) {
  const ComplexNumber x = number_of(a, dtype), y = number_of(b, dtype);
  return tensor_of({where(mask, x.re, y.re), where(mask, x.im, y.im)}, dtype);
}

// f(inputs) without history; undefined where no formula is here.
Tensor value_of(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype) {
  const GradMode off(false);
  if (is<Where>(op)) return selected(*in[0].tensor, in[1], in[2], dtype);
  if (is<MaskedFill>(op)) return selected(*in[1].tensor, in[2], in[0], dtype);
  const auto* function = op.inputs == 1 ? complex_function(op.name) : nullptr;
  const bool in_double = (function && function->in_double) || is<Pow>(op);
  const ComplexNumber a = number_of(in[0], in_double ? DType::complex128 : dtype);
  if (function) return tensor_of(function->value(a), dtype);
  if (op.inputs == 1) {
    if (is<Abs>(op)) return apply<Hypot>(a.re.tensor(), a.im.tensor());
    if (is<Angle>(op)) return apply<Atan2>(a.im.tensor(), a.re.tensor());
    if (is<Neg>(op)) return tensor_of({-a.re, -a.im}, dtype);
    if (is<Sgn>(op)) return mul(*in[0].tensor, inverse_or_zero(apply<Abs>(*in[0].tensor)));
    return answer_of(op, a);
  }
  if (op.inputs != 2) return {};
  const ComplexNumber b = number_of(in[1], in_double ? DType::complex128 : dtype);
  if (is<Mul>(op)) return tensor_of(a * b, dtype);
  if (is<Div>(op)) return tensor_of(a / b, dtype);
  if (is<Pow>(op)) return tensor_of(power(a, b), dtype);
  const double alpha = op.parameters ? parameters[0].as_double() : 1;
  const auto scaled = [alpha](const ComplexNumber& n) {
    return alpha == 1 ? n : ComplexNumber{n.re * Value(alpha), n.im * Value(alpha)};
  };
  if (is<Add>(op)) return tensor_of(a + scaled(b), dtype);
  if (is<Sub>(op)) return tensor_of(a - scaled(b), dtype);
  if (is<Rsub>(op)) return tensor_of(b - scaled(a), dtype);
  return answer_of(op, a, b);
}

// What is written with other ops, of which it has its history; undefined where it is none of these.
Tensor composed(const PointwiseOp& op, const Input* in, const Scalar* parameters) {
  if (is<NanToNum>(op)) {
    const Tensor z = *in[0].tensor;
    const auto replaced = [&](const Tensor& part) {
      const Input one[] = {as_input(part)};
      return pointwise(op, one, parameters);
    };
    return complex_of(replaced(real(z)), replaced(imag(z)), op.node);
  }
  if (is<Lerp>(op) && (!in[1].tensor || in[1].tensor->dtype() != in[0].tensor->dtype()))
    fail<RuntimeError>("expected dtype ", c_name(in[0].tensor->dtype()), " for `end`\n",
                       "lerp(): convert it, for example end.to(input.dtype)");
  if (is<Lerp>(op)) return apply<Add>(in[0], apply<Mul>(in[2], apply<Sub>(in[1], in[0])));
  if (is<Addcmul>(op)) return apply<Add>(in[0], mul(apply<Mul>(in[1], in[2]), parameters[0]));
  if (op.name == "softsign" || op.name == "sinc" || op.name == "tanhshrink") {
    const Tensor z = *in[0].tensor;
    if (op.name == "tanhshrink") return sub(z, apply<Tanh>(z));
    if (op.name == "softsign") return div(z, apply<Add>(apply<Abs>(z), Scalar(1)));
    const Tensor zero = apply<Eq>(z, Scalar(0)), x = mul(z, Scalar(kPi<double>));
    const Tensor whole = apply<Where>(zero, Scalar(1), x);
    return apply<Where>(zero, Scalar(1), div(apply<Sin>(x), whole));
  }
  if (is<L1Loss>(op)) return apply<Abs>(apply<Sub>(in[0], in[1]));
  if (op.name == "ldexp") return apply<Mul>(in[0], apply<Pow>(Scalar(2), in[1]));
  if (op.name == "logaddexp") {
    const DType d = result_type({in, 2});
    const Tensor a = to(*in[0].tensor, d), b = to(*in[1].tensor, d);
    const Tensor larger = apply<Ge>(detach(real(a)), detach(real(b)));
    const Tensor top = apply<Where>(larger, a, b), low = apply<Where>(larger, b, a);
    return add(top, apply<Log1p>(apply<Exp>(sub(low, top))));
  }
  if (op.name == "addcdiv") return apply<Add>(in[0], mul(apply<Div>(in[1], in[2]), parameters[0]));
  return {};
}

// An operand as its gradient needs it.
struct Kept {
  Saved tensor;
  Scalar number;
  Shape shape;
  DType dtype = DType::float32;

  // `overwritten`: what is read is a copy.
  Kept(const Input& in, bool reads, bool overwritten)
      : tensor(in.tensor && reads ? Saved(kept(*in.tensor, overwritten)) : Saved()),
        number(in.scalar) {
    if (!in.tensor) return;
    shape = in.tensor->shape();
    dtype = in.tensor->dtype();
  }
  static Tensor kept(const Tensor& t, bool overwritten) {
    const GradMode off(!overwritten && grad_enabled());
    return overwritten ? clone(t) : t;
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

Tensor gradient_of_one(const PointwiseOp& op, const Tensor& g, const Tensor& z) {
  const Tensor inverse = inverse_or_zero(apply<Abs>(z));
  if (is<Abs>(op)) return mul(z, mul(g, inverse));
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

// `number_first`, `of_number`: such an operand is a number; `overwrites`: the result will be
// written to the first operand.
Tensor recorded(const PointwiseOp& op, const Input* in, const Scalar* parameters, Tensor out,
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

// Torch has two types for it.
[[noreturn]] void refuse(const PointwiseOp& op, DType dtype) {
  for (const std::string_view name : {"maximum", "minimum", "fmax", "fmin", "heaviside", "isposinf",
                                      "isneginf", "deg2rad", "rad2deg"})
    if (op.name == name)
      fail<RuntimeError>(op.name, " not implemented for complex tensors.\n", op.name,
                         "(): the input is ", dtype, ": take its real or its imaginary part");
  refuse_stored(op.name, dtype);
}

// Numbers that promote as such, in the dtype of the others and where they are.
void place_numbers(const PointwiseOp& op, Input* in, Tensor* placed, DType dtype) {
  Device device;
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor && !(*in[i].tensor)->number) device = in[i].tensor->device();
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor && (*in[i].tensor)->number) {
      placed[i] = to(*in[i].tensor, dtype, device);
      in[i].tensor = &placed[i];
    }
}

}  // namespace

Tensor of_complex(const PointwiseOp& op, const Input* given, const Scalar* parameters, Into into) {
  Input in[kMaxInputs];
  std::copy_n(given, op.inputs, in);
  const DType common = result_type({in, std::size_t(op.inputs)});
  if (common == DType::complex32) refuse_stored(op.name, common);
  Tensor out, placed[kMaxInputs];
  if (is_complex(common)) {
    check_difference(op, in, common);
    const auto is_number = [&](const Input& i) { return !i.tensor || (*i.tensor)->number; };
    const bool first = is_number(in[0]), second = op.inputs == 2 && is_number(in[1]);
    place_numbers(op, in, placed, common);
    if (into.kind == Into::self && is<Abs>(op))
      fail<RuntimeError>("In-place abs is not supported for complex tensors.\nuse z.abs()");
    out = composed(op, in, parameters);
    if (!out) {
      out = value_of(op, in, parameters, common);
      if (!out) refuse(op, common);
      if (out.dtype() != DType::boolean)
        out = recorded(op, in, parameters, std::move(out), first, second, into.kind == Into::self);
    }
  } else {  // of real numbers into complex ones
    out = pointwise(op, in, parameters);
  }
  if (into.kind == Into::fresh) return out;
  bool records = false;
  for (int i = 0; i < op.inputs; ++i) records |= in[i].tensor && needs_grad(*in[i].tensor);
  check_target(op, into, out.shape(), out.dtype(), records);
  if (into.kind == Into::out) {
    resize_output(*into.target, out);
    copy_bits(*into.target, out);
    finish_inplace(*into.target);
    return *into.target;
  }
  copy_(*into.target, out);
  return *into.target;
}

}  // namespace rushlight
