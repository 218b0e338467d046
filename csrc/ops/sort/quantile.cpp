// Quantiles as compositions. Note: values of q are read on the CPU only, as torch does, so that a
// GPU's host does not wait for them.
#include "ops/sort/quantile.h"

#include "ops/sort/sort.h"
#include "ops/value.h"

namespace rushlight {
namespace {

Tensor checked_q(const char* name, const Tensor& input, const Input& q) {
  if (!q.tensor) {
    const double number = q.scalar.as_double();
    if (!(number >= 0 && number <= 1))
      fail<RuntimeError>(name, "() q must be in the range [0, 1] but got ", number);
    return scalar_tensor(q.scalar, input.dtype(), input.device());
  }
  const Tensor& t = *q.tensor;
  if (t.dim() > 1) fail<RuntimeError>(name, "() q must be a scalar or 1D tensor");
  if (t.dtype() != input.dtype())
    fail<RuntimeError>(name, "() q tensor must be same dtype as the input tensor\nq is ", t.dtype(),
                       ", input ", input.dtype());
  if (t.device() != input.device())
    fail<RuntimeError>(name, "() q tensor must be on the same device as the input tensor");
  if (t.device().is_cpu() && t.numel()) {
    const GradMode off(false);
    const Value inside = (Value(t) >= Value(0)) & (Value(t) <= Value(1));
    if (!item(all(inside.tensor(), {}, false)).as_double())
      fail<RuntimeError>(name, "() q values must be in the range [0, 1]");
  }
  return t;
}

// Elements of sorted values at ranks that may be fractions.
Tensor between(const Tensor& values, Value ranks, std::string_view interpolation) {
  if (interpolation == "lower") ranks = floor(ranks);
  if (interpolation == "higher") ranks = apply_to_values<Ceil>(ranks);
  if (interpolation == "nearest") ranks = round(ranks);
  const Tensor whole = detach(ranks.tensor());
  const Tensor below = to(whole, DType::int64);
  const Tensor low = gather(values, -1, below);
  if (interpolation != "linear" && interpolation != "midpoint") return low;
  const Tensor above = to(apply<Ceil>(whole), DType::int64);
  const Tensor high = gather(values, -1, above);
  const Value weight = interpolation == "linear"
                           ? ranks - Value(below)
                           : Value(0.5) * Value(to(sub(above, below), values.dtype()));
  return apply<Lerp>(low, high, weight.tensor());
}

}  // namespace

Tensor quantile(const char* name, const Tensor& input, const Input& given_q,
                std::optional<std::int64_t> dim, bool keepdim, std::string_view interpolation) {
  constexpr std::string_view kInterpolations[] = {"linear", "lower", "higher", "midpoint",
                                                  "nearest"};
  if (std::find(std::begin(kInterpolations), std::end(kInterpolations), interpolation) ==
      std::end(kInterpolations))
    fail<RuntimeError>(
        name,
        "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
        interpolation);
  if (input.dtype() != DType::float32 && input.dtype() != DType::float64)
    fail<RuntimeError>(name, "() input tensor must be either float or double dtype");
  if (input.numel() == 0) fail<RuntimeError>(name, "() input tensor must be non-empty");
  const Tensor q = checked_q(name, input, given_q);
  const std::int64_t last_dim = -1;
  Shape kept(input.sizes());
  Tensor x;
  if (dim) {
    const int d = wrap_dim(*dim, input.dim());
    const std::int64_t from = d;
    x = input.dim() ? movedim(input, {&from, 1}, {&last_dim, 1}) : reshape(input, {1});
    if (input.dim()) kept.sizes[d] = 1;
  } else {
    x = reshape(input, {-1});
    for (int d = 0; d < kept.rank; ++d) kept.sizes[d] = 1;
  }
  const Tensor values = std::get<0>(sort(x, -1, false));
  const double end = double(x.size(-1) - 1);
  const Tensor nan = apply<Isnan>(x);
  Value ranks;
  if (std::string_view(name) == "nanquantile") {
    const Tensor present = sum(apply<LogicalNot>(nan), {&last_dim, 1}, true);
    const Value last =
        to(clamp(sub(present, ones_like(present)), as_input(Scalar(0)), {}), x.dtype());
    ranks = Value(q) * last;
  } else {
    ranks = where(any(nan, {&last_dim, 1}, true), Value(end), Value(q) * Value(end));
  }
  Shape parts(x.sizes()), result_shape;
  parts.sizes[parts.rank - 1] = q.numel();
  const Tensor result = between(values, Value(expand(ranks.tensor(), parts)), interpolation);
  if (q.dim()) result_shape.push_back(q.numel());
  for (int d = 0; d < (keepdim ? kept.rank : x.dim() - 1); ++d)
    result_shape.push_back(keepdim ? kept[d] : x.size(d));
  const std::int64_t first = 0;
  return reshape(movedim(result, {&last_dim, 1}, {&first, 1}), result_shape);
}

}  // namespace rushlight
