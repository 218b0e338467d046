// Covariances as compositions. Note: only weights are looked at, as torch does; without them the
// host does not wait for a GPU.
#include "ops/reduce/covariance.h"

#include "ops/linalg/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/value.h"

namespace rushlight {
namespace {

void check_weights(const char* name, const Tensor& w, bool integers, std::int64_t count) {
  if (w.dim() > 1)
    fail<RuntimeError>("cov(): expected ", name, " to have one or fewer dimensions but got ", name,
                       " with ", w.dim(), " dimensions");
  if (integers == is_floating(w.dtype()) || w.dtype() == DType::boolean)
    fail<RuntimeError>("cov(): expected ", name, " to have ",
                       integers ? "integral" : "floating point", " dtype but got ", name, " with ",
                       scalar_name(w.dtype()), " dtype");
  if (w.numel() != count)
    fail<RuntimeError>("cov(): expected ", name,
                       " to have the same numel as there are observations in the input but got ",
                       w.numel(), " != ", count);
  const GradMode off(false);
  if (count && item(amin(w, {}, false)).as_double() < 0)
    fail<RuntimeError>("cov(): ", name, " cannot be negative");
}

bool is_positive(const Value& v) {
  return v.is_scalar() ? v.scalar() > 0 : item(v.tensor()).as_double() > 0;
}

}  // namespace

Tensor cov(const Tensor& input, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  if (input.dim() > 2)
    fail<RuntimeError>(
        "cov(): expected input to have two or fewer dimensions but got an input with ", input.dim(),
        " dimensions");
  if (input.dtype() == DType::boolean)
    fail<RuntimeError>("cov(): bool dtype is not supported for input");
  const Tensor x = input.dim() < 2 ? reshape(input, {1, input.numel()}) : input;
  const std::int64_t count = x.size(1), last = -1;
  if (fweights) check_weights("fweights", *fweights, true, count);
  if (aweights) check_weights("aweights", *aweights, false, count);
  const bool weighted = fweights || aweights;
  const Tensor weights = fweights && aweights ? mul(*fweights, *aweights)
                         : fweights           ? *fweights
                                              : aweights.value_or(Tensor());
  const auto scaled = [&](const Tensor& t) { return weighted ? mul(t, weights) : t; };
  const Value total = weighted ? Value(sum(weights, {}, false)) : Value(double(count));
  if (weighted && (count == 0 || item(total.tensor()).as_double() == 0))
    fail<RuntimeError>("cov(): weights sum to zero, can't be normalized");
  Value norm = total - Value(double(correction));
  if (aweights && correction)
    norm =
        total - Value(double(correction)) * Value(sum(mul(weights, *aweights), {}, false)) / total;
  if (!is_positive(norm)) {
    warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
        "observations.");
    norm = Value(0);
  }
  const Value mean = Value(sum(scaled(x), {&last, 1}, true)) / total;
  const Tensor centered = (Value(x) - mean).tensor();
  const Tensor other = to(scaled(centered), centered.dtype());
  return squeeze((Value(mm(centered, transposed(conj(other)))) / norm).tensor(), {});
}

Tensor corrcoef(const Tensor& input) {
  if (input.dim() > 2)
    fail<RuntimeError>(
        "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
        input.dim(), " dimensions");
  if (is_floating(input.dtype()) && item_size(input.dtype()) == 2)  // rounded once
    return to(corrcoef(to(input, DType::float32)), input.dtype());
  const Value c = cov(input, 1, {}, {});
  if (c.tensor().dim() == 0) return (c / c).tensor();
  const Tensor deviation = apply<Sqrt>(diagonal(real(c.tensor()), 0, 0, 1));
  const Value ratio = c / Value(unsqueeze(deviation, 1)) / Value(unsqueeze(deviation, 0));
  const auto within = [](const Tensor& t) {
    return clamp(t, as_input(Scalar(-1)), as_input(Scalar(1)));
  };
  const Tensor r = ratio.tensor();
  return is_complex(r.dtype()) ? complex_of(within(real(r)), within(imag(r))) : within(r);
}

}  // namespace rushlight
