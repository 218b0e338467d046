// Pointwise ops of complex numbers: what computes each of them. Gradients: complex_gradients.cpp.
#include "complex.h"

#include "checks.h"
#include "core/device.h"
#include "kernels/parallel.h"
#include "kernels/stored.h"

namespace rushlight {
namespace {

// Its parts side by side, as they are read more than once.
ComplexNumber number_of(const Input& in, DType dtype) {
  if (!in.tensor) return {Value(in.scalar.as_double()), Value(0)};
  if (!is_complex(in.tensor->dtype())) return {Value(to(*in.tensor, real_of(dtype))), Value(0)};
  const auto part = [&](const Tensor& t) { return contiguous(to(t, real_of(dtype))); };
  return {Value(part(real(*in.tensor))), Value(part(imag(*in.tensor)))};
}

bool is_arithmetic(const PointwiseOp& op) {
  return is<Add>(op) || is<Sub>(op) || is<Rsub>(op) || is<Mul>(op) || is<Div>(op);
}

// One of two operands: a number beside a tensor is a scalar, so that no kernel reads it again.
ComplexNumber operand_of(const PointwiseOp& op, const Input* in, int i, DType dtype) {
  const Tensor *t = in[i].tensor, *other = in[1 - i].tensor;
  if (!is_arithmetic(op) || !t || !other || t->dim() || !other->dim() || !t->device().is_cpu() ||
      !is_complex(t->dtype()))
    return number_of(in[i], dtype);
  const auto v = element_of(*t, t->offset()).as<Complex<double>>(t->dtype());
  return {Value(v.real), Value(v.imag)};
}

// As complex numbers of this dtype.
Tensor tensor_of(const ComplexNumber& n, DType dtype) {
  const Tensor& some = n.re.is_scalar() ? n.im.tensor() : n.re.tensor();
  const auto part = [&](const Value& v) {
    return to(v.is_scalar() ? full_like(some, Scalar(v.scalar())) : v.tensor(), real_of(dtype));
  };
  return complex_of(part(n.re), part(n.im));
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

bool is_power(const PointwiseOp& op, const Input* in, double exponent) {
  return is<Pow>(op) && !in[1].tensor && in[1].scalar.as_double() == exponent;
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

// What adds the parts alone: of the pairs that the numbers are, in one pass; else undefined.
Tensor as_sum(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype) {
  if (!is<Add>(op) && !is<Sub>(op) && !is<Rsub>(op) && !is<Neg>(op)) return {};
  Tensor pairs[2];
  Input inputs[2];
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor || !is_complex(in[i].tensor->dtype())) return {};
    if (in[i].tensor->dim() == 0 || in[i].tensor->dim() == kMaxRank) return {};
    pairs[i] = view_as_real(to(*in[i].tensor, dtype));
    inputs[i] = as_input(pairs[i]);
  }
  const Tensor out = pointwise(op, inputs, parameters);
  if (out->strides[std::size_t(out.dim() - 1)] != 1) return {};
  return alias(view_as_complex(out));
}

// f(inputs) without history; undefined where no formula is here.
Tensor value_of(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype) {
  const GradMode off(false);
  if (is<Where>(op)) return selected(*in[0].tensor, in[1], in[2], dtype);
  if (is<MaskedFill>(op)) return selected(*in[1].tensor, in[2], in[0], dtype);
  if (Tensor out = as_sum(op, in, parameters, dtype)) return out;
  const auto* function = op.inputs == 1 ? complex_function(op.name) : nullptr;
  if (is<Abs>(op)) return apply<Hypot>(real(*in[0].tensor), imag(*in[0].tensor));
  if (is<Angle>(op)) return apply<Atan2>(imag(*in[0].tensor), real(*in[0].tensor));
  const bool in_double = (function && function->in_double) ||
                         (is<Pow>(op) && !is_power(op, in, 2) && !is_power(op, in, -1));
  const DType computed = in_double ? DType::complex128 : dtype;
  const ComplexNumber a =
      op.inputs == 2 ? operand_of(op, in, 0, computed) : number_of(in[0], computed);
  if (function) return tensor_of(function->value(a), dtype);
  if (op.inputs == 1) {
    if (is<Neg>(op)) return tensor_of({-a.re, -a.im}, dtype);
    if (is<Sgn>(op)) {
      const Value scale = inverse_or_zero(apply<Abs>(*in[0].tensor));
      return tensor_of({a.re * scale, a.im * scale}, dtype);
    }
    return answer_of(op, a);
  }
  if (op.inputs != 2) return {};
  const ComplexNumber b = operand_of(op, in, 1, computed);
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

// The same by a kernel of pairs; undefined where no device has one for this op, or this one has
// not.
Tensor by_kernel(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype,
                 const Tensor* target = nullptr) {
  common_device(op, in, {});  // throws
  const Input swapped[] = {in[op.inputs - 1], in[0]}, twice[] = {in[0], in[0]};
  const Input inverse[] = {as_input(Scalar(1)), in[0]};
  using enum ComplexFormula;
  const auto one = [&](ComplexFormula f) { return of_pairs(f, in, 1, dtype, 1, target); };
  const auto two = [&](ComplexFormula f, const Input* of, double alpha = 1) {
    return of_pairs(f, of, 2, dtype, alpha, target);
  };
  const double alpha = op.parameters ? parameters[0].as_double() : 1;
  if (is<Add>(op)) return two(sum, in, alpha);
  if (is<Sub>(op)) return two(sum, in, -alpha);
  if (is<Rsub>(op)) return two(sum, swapped, -alpha);
  if (is<Mul>(op)) return two(product, in);
  if (is<Div>(op)) return two(ComplexFormula::quotient, in);
  if (is<Square>(op) || is_power(op, in, 2)) return two(product, twice);
  if (is<Reciprocal>(op) || is_power(op, in, -1)) return two(ComplexFormula::quotient, inverse);
  if (is<Abs>(op)) return one(size);
  if (is<Sgn>(op)) return one(unit);
  return {};
}

// The same, of many numbers in pieces: what a formula makes of one stays in a processor's cache.
Tensor value_in_pieces(const PointwiseOp& op, const Input* in, const Scalar* parameters,
                       DType dtype) {
  const std::int64_t piece = std::int64_t(1 << 14) * num_threads();
  const GradMode off(false);
  Tensor flat[kMaxInputs], first, out, flat_out;
  bool apart = true;
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor || in[i].tensor->dim() == 0) continue;
    const Tensor& t = *in[i].tensor;
    if (!first) first = t;
    apart &= t.is_contiguous() && t.device().is_cpu() && t.shape() == first.shape();
    if (apart) flat[i] = view(t, {t.numel()});
  }
  if (!apart || !first || first.numel() < 2 * piece) return value_of(op, in, parameters, dtype);
  for (std::int64_t begin = 0; begin < first.numel(); begin += piece) {
    const std::int64_t count = std::min(piece, first.numel() - begin);
    Input inputs[kMaxInputs];
    Tensor parts[kMaxInputs];
    for (int i = 0; i < op.inputs; ++i) {
      inputs[i] = in[i];
      if (!flat[i]) continue;
      parts[i] = narrow(flat[i], 0, begin, count);
      inputs[i].tensor = &parts[i];
    }
    const Tensor made = value_of(op, inputs, parameters, dtype);
    if (!made) return {};
    if (!out) {
      out = empty(first.shape(), made.dtype(), first.device());
      flat_out = view(out, {first.numel()});
    }
    copy_bits(narrow(flat_out, 0, begin, count), made);
  }
  return out;
}

// The same of what lies in another order than row-major, in that order: the parts would lose it. Of
// operands in several orders, and of expanded ones, row-major.
Tensor value_in_order(const PointwiseOp& op, const Input* in, const Scalar* parameters,
                      DType dtype) {
  const Tensor* first = nullptr;
  bool alike = true;
  for (int i = 0; i < op.inputs; ++i) {
    const Tensor* t = in[i].tensor;
    if (!t || t->dim() == 0) continue;
    if (!first) first = t;
    alike &= t->shape() == first->shape() && std::ranges::equal(t->strides(), first->strides()) &&
             std::ranges::find(t->strides(), 0) == t->strides().end();
  }
  if (!first || !alike || first->is_contiguous()) return value_in_pieces(op, in, parameters, dtype);
  std::vector<std::int64_t> order, back(std::size_t(first->dim()));
  for (int d = 0; d < first->dim(); ++d) order.push_back(d);
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t d) { return first->stride(d); });
  for (std::size_t i = 0; i < order.size(); ++i) back[std::size_t(order[i])] = std::int64_t(i);
  const GradMode off(false);
  Input inputs[kMaxInputs];
  Tensor ordered[kMaxInputs];
  for (int i = 0; i < op.inputs; ++i) {
    inputs[i] = in[i];
    if (!in[i].tensor || in[i].tensor->dim() == 0) continue;
    ordered[i] = permute(*in[i].tensor, order);
    inputs[i].tensor = &ordered[i];
  }
  const Tensor out = value_in_pieces(op, inputs, parameters, dtype);
  return out ? alias(permute(out, back)) : out;
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
  if (op.name == "ldexp") return apply<Mul>(in[0], apply<Pow>(Scalar(2.0), in[1]));
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

// Torch has two types for it.
[[noreturn]] void refuse(const PointwiseOp& op, DType dtype) {
  for (const std::string_view name : {"maximum", "minimum", "fmax", "fmin", "heaviside", "isposinf",
                                      "isneginf", "deg2rad", "rad2deg"})
    if (op.name == name)
      fail<RuntimeError>(op.name, " not implemented for complex tensors.\n", op.name,
                         "(): the input is ", dtype, ": take its real or its imaginary part");
  refuse_stored(op.name, dtype);
}

// Numbers that promote as such, in the dtype of the others and where they are, but for those that
// arithmetic reads as scalars.
void place_numbers(const PointwiseOp& op, Input* in, Tensor* placed, DType dtype) {
  Device device;
  for (int i = 0; i < op.inputs; ++i) {
    const Tensor* t = in[i].tensor;
    if (t && !(*t)->number) device = is_arithmetic(op) && t->dim() ? kCpu : t->device();
  }
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor && (*in[i].tensor)->number) {
      placed[i] = to(*in[i].tensor, dtype, device);
      in[i].tensor = &placed[i];
    }
}

// Whether a kernel could write the result where it goes, as nothing is recorded.
bool written_in_place(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType dtype,
                      const Tensor& target) {
  Shape shape;
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor) continue;
    if (needs_grad(*in[i].tensor)) return false;
    shape = broadcast(shape, in[i].tensor->sizes());
  }
  if (target.dtype() != dtype || !(target.shape() == shape)) return false;
  check_target(op, {Into::self, &target}, shape, dtype, false);
  if (!by_kernel(op, in, parameters, dtype, &target)) return false;
  finish_inplace(target);
  return true;
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
    if (into.kind == Into::self && written_in_place(op, in, parameters, common, *into.target))
      return *into.target;
    out = composed(op, in, parameters);
    if (!out) {
      out = by_kernel(op, in, parameters, common);
      if (!out) out = value_in_order(op, in, parameters, common);
      if (!out) refuse(op, common);
      if (out.dtype() != DType::boolean)
        out = record_complex(op, in, parameters, std::move(out), first, second,
                             into.kind == Into::self);
    }
  } else {  // of real numbers into complex ones
    out = pointwise(op, in, parameters);
  }
  if (into.kind == Into::fresh) return out;
  bool records = false;
  for (int i = 0; i < op.inputs; ++i) records |= in[i].tensor && needs_grad(*in[i].tensor);
  PointwiseOp asked = op;
  asked.exact &= !is<Abs>(op);  // the sizes of complex numbers go to every dtype that holds them
  check_target(asked, into, out.shape(), out.dtype(), records);
  if (into.kind == Into::out) {
    resize_output(*into.target, out);
    copy_bits(*into.target, out);
    finish_inplace(*into.target);
    return *into.target;
  }
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor) needs_copy(*into.target, *in[i].tensor);  // throws where they overlap in part
  copy_(*into.target, out);
  return *into.target;
}

}  // namespace rushlight
