// Operands of dtypes that are only stored: == and != compare them in a dtype that holds every
// number of theirs; complex numbers go to complex.cpp, uint16 to uint64 to unsigned.cpp; all other
// pointwise ops refuse them.
#include "checks.h"
#include "core/device.h"
#include "pointwise.h"

namespace rushlight {

bool has_stored(const PointwiseOp& op, const Input* in, const Into& into) {
  const auto is_stored = [](const Tensor* t) { return t && *t && is_only_stored(t->dtype()); };
  bool found = is_stored(into.target);
  for (int i = 0; i < op.inputs; ++i) found |= is_stored(in[i].tensor);
  return found;
}

Tensor of_stored(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into) {
  if (into.kind == Into::fresh) into.target = nullptr;  // callers may name an operand there
  const auto complex = [](const Tensor* t) { return t && is_complex(t->dtype()); };
  bool has_complex = complex(into.target);
  for (int i = 0; i < op.inputs; ++i) has_complex |= complex(in[i].tensor);
  if (has_complex) return of_complex(op, in, parameters, into);
  if (Tensor out = of_unsigned(op, in, parameters, into)) return out;
  const bool compares =
      op.index == pointwise_op<Eq>().index || op.index == pointwise_op<Ne>().index;
  std::optional<DType> common;
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].tensor) continue;
    const DType d = in[i].tensor->dtype();
    if (is_only_stored(d) && (!compares || d == DType::float4_e2m1fn_x2)) refuse_stored(op.name, d);
    common = common ? promote_types(*common, d) : d;
  }
  if (into.target && is_only_stored(into.target->dtype()))
    refuse_stored(op.name, into.target->dtype());
  const bool real = (!in[0].tensor && in[0].scalar.is_floating()) ||
                    (!in[1].tensor && in[1].scalar.is_floating());
  DType wide = is_only_stored(*common) ? DType::float32 : *common;
  if (is_integral(*common) && is_only_stored(*common))  // uint64 keeps its bits
    wide = real ? default_dtype() : DType::int64;
  Tensor cast[2];
  Input operands[2] = {in[0], in[1]};
  for (int i = 0; i < 2; ++i) {
    if (!in[i].tensor) {  // as torch converts it
      if (wide == DType::int64 && is_only_stored(*common) && *common != DType::uint64)
        operands[i].scalar = item(to(scalar_tensor(in[i].scalar, DType::int64, kCpu), *common));
      continue;
    }
    cast[i] = to(*in[i].tensor, wide);
    operands[i].tensor = &cast[i];
  }
  return pointwise(op, operands, parameters, into);
}

}  // namespace rushlight
