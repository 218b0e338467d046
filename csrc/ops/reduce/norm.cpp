// Norms of vectors, and the nuclear norm. Gradients are formulas on tensors, so they differentiate
// again.
#include <cmath>

#include "autograd/showing.h"
#include "kernels/reduce_formulas.h"
#include "ops/linalg/linalg.h"
#include "ops/value.h"
#include "reduce.h"

namespace rushlight {
namespace {

Tensor norm_backward(const Tensor& g, const Tensor& x, const Tensor& norm, const ReducedShape& over,
                     double ord) {
  const Value zero(0), value(to(x, g.dtype())), n(reshape(norm, over.kept)),
      grad(reshape(g, over.kept));
  if (ord == 0) return {};  // a count
  if (std::isinf(ord)) {
    const Tensor magnitude = abs(value).tensor();
    const Tensor share = share_of_extremes(magnitude, norm, over);
    return (apply_to_values<Sign>(value) * Value(share) * grad).tensor();
  }
  if (ord == 1) return (apply_to_values<Sign>(value) * grad).tensor();
  // Masked as in torch, before the product: a second gradient at 0 is 0 by the seed.
  if (ord == 2) return (where(n == zero, zero, value / n) * grad).tensor();
  // x |x|^(ord - 2) / norm^(ord - 1)
  if (ord < 1) {
    const Value power = apply_to_values<Sign>(value) * pow(abs(value), Value(ord - 1));
    return (where(value == zero, zero, power) * grad * pow(n, Value(1 - ord))).tensor();
  }
  const Value power = ord < 2 ? apply_to_values<Sign>(value) * pow(abs(value), Value(ord - 1))
                              : value * pow(abs(value), Value(ord - 2));
  return (power * where(n == zero, zero, grad / pow(n, Value(ord - 1)))).tensor();
}

Reduction norm_kind(double ord) {
  if (ord == 0) return kReduction<reduction::Count>;
  if (ord == 1) return kReduction<reduction::AbsoluteSum>;
  if (ord == 2) return kReduction<reduction::EuclideanNorm>;
  if (std::isinf(ord))
    return ord > 0 ? kReduction<reduction::AbsoluteMaximum>
                   : kReduction<reduction::AbsoluteMinimum>;
  return kReduction<reduction::Norm>;
}

}  // namespace

// A dtype= to compute in: of the kind of the input's, and no narrower.
static void check_dtype(DType given, DType dtype) {
  const bool complex = is_complex(given);
  if (!is_floating(dtype) && !is_complex(dtype))
    fail<RuntimeError>("linalg.vector_norm: dtype should be floating point or complex, but got ",
                       scalar_name(dtype));
  if (complex != is_complex(dtype))
    fail<RuntimeError>("linalg.vector_norm: dtype should be ", complex ? "complex" : "real",
                       " for ", complex ? "complex" : "real", " inputs, but got ",
                       scalar_name(dtype));
  if (promote_types(given, dtype) != dtype)
    fail<RuntimeError>("linalg.vector_norm: the dtype of the input (", scalar_name(given),
                       ") should be convertible without narrowing to the specified dtype (",
                       scalar_name(dtype), ")");
}

Tensor vector_norm(const Tensor& given, double ord, Sizes dims, bool keepdim, OptionalDtype dtype) {
  if (dtype) check_dtype(given.dtype(), *dtype);
  if (is_complex(given.dtype()))
    return vector_norm(apply<Abs>(dtype ? to(given, *dtype) : given), ord, dims, keepdim, {});
  if (!is_floating(given.dtype()))
    fail<RuntimeError>(
        "linalg.vector_norm: Expected a floating point or complex tensor as input. "
        "Got ",
        scalar_name(given.dtype()), "\n", describe("input", given));
  const bool cast = dtype && !is_computed_in(given.dtype(), *dtype);
  const Tensor input = cast ? to(given, *dtype) : given;
  const ReducedShape over(input, dims);
  if (over.count == 0 && (ord < 0 || std::isinf(ord)))
    fail<RuntimeError>("linalg.vector_norm cannot compute the ", ord,
                       " norm on an empty tensor because the operation does not have an identity\n",
                       describe("input", given));
  Tensor out;
  {
    const GradMode off(false);
    out = reduce_into_new(norm_kind(ord), input, over, keepdim, dtype.value_or(input.dtype()), ord);
  }
  if (!needs_grad(input)) return out;
  return record("LinalgVectorNormBackward0", out,
                showing(
                    "self result ord dim keepdim",
                    [over](Tensor g, Node& self, const Saved& x, const SavedOutput& y, double ord) {
                      const Tensor input = x.get();
                      const Tensor to_input = norm_backward(g, input, y.get(self), over, ord);
                      return Gradients(to_input ? to(to_input, input.dtype()) : to_input);
                    },
                    Saved(input), SavedOutput(out), double(ord),
                    ReducedDims{over.mask, !dims.empty()}, keepdim),
                input);
}

Tensor nuclear_norm(const Tensor& x, Sizes dims, bool keepdim) {
  Shape at;
  for (int d = 0; d < (dims.empty() ? x.dim() : int(dims.size())); ++d)
    at.push_back(dims.empty() ? d : dims[std::size_t(d)]);
  if (at.rank != 2)
    fail<RuntimeError>("linalg.matrix_norm: dim must be a 2-tuple. Got ", at.view());
  for (int k = 0; k < 2; ++k) at[k] = wrap_dim(at[k], x.dim());
  if (at[0] == at[1])
    fail<RuntimeError>("linalg.matrix_norm: dims must be different. Got (", at[0], ", ", at[1],
                       ")");
  const Tensor matrices = movedim(x, at.view(), Shape{-2, -1}.view());
  Tensor norms = sum(std::get<1>(linalg_svd("linalg.matrix_norm", matrices, false, false)),
                     Shape{-1}.view(), false);
  if (!keepdim) return norms;
  if (at[1] < at[0]) std::swap(at[0], at[1]);
  return unsqueeze(unsqueeze(norms, at[0]), at[1]);
}

}  // namespace rushlight
