// uint16, uint32 and uint64 where torch computes with them: with floats, and in functions whose
// results are floats, as floats; products, bits and choices by the signed integers of their bits.
#include <algorithm>

#include "checks.h"
#include "core/device.h"
#include "kernels/pointwise/names.h"
#include "pointwise.h"

namespace rushlight {
namespace {

bool is_unsigned(const Tensor* t) {
  return t && *t && is_only_stored(t->dtype()) && is_integral(t->dtype());
}
DType signed_of(DType d) {
  return d == DType::uint16 ? DType::int16 : d == DType::uint32 ? DType::int32 : DType::int64;
}

template <class... Ops>
bool is_one_of(const PointwiseOp& op) {
  return ((op.index == pointwise_op<Ops>().index) || ...);
}
bool is_named(const PointwiseOp& op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, std::string_view(op.name)) != names.end();
}
// Whose result the bits alone say, whatever the number is.
bool is_of_bits(const PointwiseOp& op) {
  return is_one_of<Mul, BitwiseAnd, BitwiseOr, BitwiseXor, Where, Floor, Ceil, Trunc, Round, Isnan,
                   Isinf>(op) ||
         op.name == "isfinite";
}

// In the dtype d of floats: what is unsigned; the rest promotes by itself.
Tensor as_floats(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType d) {
  Tensor cast[kMaxInputs];
  Input operands[kMaxInputs];
  for (int i = 0; i < op.inputs; ++i) {
    operands[i] = in[i];
    if (!is_unsigned(in[i].tensor)) continue;
    cast[i] = to(*in[i].tensor, d);
    operands[i].tensor = &cast[i];
  }
  return pointwise(op, operands, parameters);
}

// Of the unsigned dtype d, as numbers with signs.
Tensor as_bits(const PointwiseOp& op, const Input* in, const Scalar* parameters, DType d) {
  const DType with_sign = signed_of(d);
  Tensor seen[kMaxInputs];
  Input operands[kMaxInputs];
  for (int i = 0; i < op.inputs; ++i) {
    operands[i] = in[i];
    if (op.bool_inputs >> i & 1) continue;
    if (!in[i].tensor) {
      check_fits(op.name, "other", in[i].scalar, d);
      seen[i] = view_dtype(full({}, in[i].scalar, d), with_sign);
      operands[i] = as_input(item(seen[i]));
      continue;
    }
    seen[i] = view_dtype(to(*in[i].tensor, d), with_sign);
    operands[i].tensor = &seen[i];
  }
  const Tensor out = pointwise(op, operands, parameters);
  return out.dtype() == with_sign ? view_dtype(out, d) : out;
}

// Into self or out: a fresh result, copied.
Tensor written(const PointwiseOp& op, const Tensor& made, Into into) {
  check_target(op, into, made.shape(), made.dtype(), false);
  if (into.kind == Into::out) resize_output(*into.target, made);
  copy_bits(*into.target, made);
  finish_inplace(*into.target);
  return *into.target;
}

}  // namespace

Tensor of_unsigned(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into) {
  bool any = false;
  for (int i = 0; i < op.inputs; ++i) {
    const Tensor* t = in[i].tensor;
    any |= is_unsigned(t);
    if (t && is_only_stored(t->dtype()) && !is_unsigned(t)) return {};
  }
  if (into.kind != Into::fresh) {
    if (!any && !is_unsigned(into.target)) return {};
    return written(op, any ? of_stored(op, in, parameters, {}) : pointwise(op, in, parameters),
                   into);
  }
  if (!any || is_one_of<Eq, Ne, Lerp>(op)) return {};
  if (is_named(op, {"heaviside", "softsign"})) return {};  // as torch
  Input promoting[kMaxInputs];
  std::size_t count = 0;
  for (int i = 0; i < op.inputs; ++i)
    if (!(op.bool_inputs >> i & 1)) promoting[count++] = in[i];
  const DType common = result_type({promoting, count});  // throws where torch does not promote
  const bool converts = op.takes == Takes::converted || op.takes == Takes::wide ||
                        is_one_of<Div>(op) ||
                        is_named(op, {"ldexp", "signbit", "isposinf", "isneginf"});
  if (is_floating(common) || converts)
    return as_floats(op, in, parameters, is_floating(common) ? common : default_dtype());
  return is_of_bits(op) ? as_bits(op, in, parameters, common) : Tensor();
}

Tensor with_first_bit_turned(const Tensor& t) {
  const auto bits = 8 * item_size(t.dtype());
  return apply<BitwiseXor>(t, Scalar(std::int64_t(~std::uint64_t(0) << (bits - 1))));
}

}  // namespace rushlight
