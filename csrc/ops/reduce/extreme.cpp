// Largest and smallest elements. Note: without a dim several equal extremes share
// the gradient evenly; with a dim it all goes to the one whose index is returned.
#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/reduce_formulas.h"
#include "ops/value.h"
#include "reduce.h"

namespace rushlight {

Tensor not_nan_mask(const Tensor& x) {
  const GradMode off(false);
  return to((Value(x) == Value(x)).tensor(), x.dtype());
}

namespace {
// Where the extremes lie, as truth values, and how many each result has.
std::pair<Tensor, Tensor> extremes_of(const Tensor& input, const Tensor& result,
                                      const ReducedShape& over, bool finds_nan) {
  const GradMode off(false);
  const Value x = input, kept = reshape(result, over.kept);
  Value same_value = x == kept;
  if (finds_nan)
    same_value = same_value | ((x != x) & Value(expand((kept != kept).tensor(), over.whole)));
  const Tensor same = same_value.tensor();
  Shape dims;
  for (int d = 0; d < over.whole.rank; ++d)
    if (over.mask >> d & 1) dims.push_back(d);
  const Tensor count = dims.rank ? sum(same, dims, true) : same;
  return {same, to(count, input.dtype())};
}
}  // namespace

Tensor share_of_extremes(const Tensor& input, const Tensor& result, const ReducedShape& over) {
  const auto [same, count] = extremes_of(input, result, over, true);
  const GradMode off(false);
  return div(to(same, input.dtype()), count);
}

Tensor shared_by_extremes(const Tensor& g, const Tensor& input, const Tensor& result,
                          const ReducedShape& over, bool finds_nan) {
  const auto [same, count] = extremes_of(input, result, over, finds_nan);
  return mul(spread(div(reshape(g, over.kept), count), over), to(same, g.dtype()));
}

namespace {

Tensor extreme(const char* op, const char* node, Reduction kind, const Tensor& input, Sizes dims,
               bool keepdim, bool dims_given, bool finds_nan) {
  const ReducedShape over(input, dims);
  check_not_empty(op, input, over, dims_given);
  Tensor out;
  {
    const GradMode off(false);
    out = reduce_into_new(kind, input, over, keepdim, input.dtype());
  }
  if (!needs_grad(input)) return out;
  return record(
      node, out,
      showing(
          dims_given ? "self result dim keepdim" : "self result",
          [over, finds_nan](Tensor g, Node& self, const Saved& x, const SavedOutput& y, ReducedDims,
                            bool) {
            return Gradients(shared_by_extremes(g, x.get(), y.get(self), over, finds_nan));
          },
          Saved(input), SavedOutput(out), ReducedDims{over.mask}, keepdim),
      input);
}

// Values and indices along one dimension, both without history.
TensorPair values_and_indices(const char* op, const Tensor& input, int dim, bool keepdim,
                              bool largest) {
  const Shape dims{dim};
  const ReducedShape over(input, dims);
  if (input.dim()) check_not_empty(op, input, over, true);
  Tensor values = empty(over.shape(keepdim), input.dtype(), input.device());
  Tensor indices = empty(over.shape(keepdim), DType::int64, input.device());
  if (values.numel() == 0 || input.device().is_meta()) return {values, indices};
  View v = view_of(values), i = view_of(indices);
  const View from = view_of(input);
  Strides strides{};
  contiguous_strides(over.kept, strides);
  for (View* to : {&v, &i}) {
    to->rank = over.kept.rank;
    std::copy_n(over.kept.begin(), to->rank, to->sizes);
    std::copy_n(strides.begin(), to->rank, to->strides);
  }
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()) * 0.5, {&values, &indices, &input});
  b.reduce->extreme(largest, v, i, from, dim);
  return {values, indices};
}

TensorPair picked(const char* op, const char* node, const Tensor& input, std::int64_t d,
                  bool keepdim, bool largest) {
  const int dim = wrap_dim(d, input.dim());
  auto [values, indices] = values_and_indices(op, input, dim, keepdim, largest);
  Tensor outs[] = {values, indices};
  record_many(node, outs,
              showing(
                  "indices self_sym_sizes dim keepdim",
                  [](std::span<Tensor> g, Node&, const Saved& where, const Shape& whole,
                     std::int64_t dim, bool keepdim) {
                    return Gradients(picked_backward(g[0], where.get(), whole, int(dim), keepdim));
                  },
                  Saved(indices), input.shape(), std::int64_t(dim), keepdim),
              input);
  return {outs[0], outs[1]};
}

Tensor arg_extreme(const char* op, const Tensor& input, std::optional<std::int64_t> d, bool keepdim,
                   bool largest) {
  if (input.dtype() == DType::boolean) fail<RuntimeError>(op, "(): does not support bool input");
  const GradMode off(false);
  if (d)
    return std::get<1>(values_and_indices(op, input, wrap_dim(*d, input.dim()), keepdim, largest));
  if (input.numel() == 0)
    fail<IndexError>(op, "(): Expected reduction dim to be specified for input.numel() == 0.\n",
                     describe("input", input));
  const Tensor at =
      std::get<1>(values_and_indices(op, reshape(input, Shape{-1}), 0, false, largest));
  Shape ones = input.shape();
  for (int k = 0; k < ones.rank; ++k) ones[k] = 1;
  return keepdim ? reshape(at, ones) : at;
}

}  // namespace

Tensor amax(const Tensor& input, Sizes dims, bool keepdim) {
  return extreme("amax", "AmaxBackward0", kReduction<reduction::Maximum>, input, dims, keepdim,
                 !dims.empty(), false);
}
Tensor amin(const Tensor& input, Sizes dims, bool keepdim) {
  return extreme("amin", "AminBackward0", kReduction<reduction::Minimum>, input, dims, keepdim,
                 !dims.empty(), false);
}

static void check_any(const char* op, const Tensor& input) {
  if (input.numel() == 0)
    fail<RuntimeError>(op,
                       "(): Expected reduction dim to be specified for input.numel() == 0. "
                       "Specify the reduction dim with the 'dim' argument.\n",
                       describe("input", input));
}
Tensor max(const Tensor& input) {
  check_any("max", input);
  return extreme("max", "MaxBackward1", kReduction<reduction::Maximum>, input, {}, false, false,
                 true);
}
Tensor min(const Tensor& input) {
  check_any("min", input);
  return extreme("min", "MinBackward1", kReduction<reduction::Minimum>, input, {}, false, false,
                 true);
}
TensorPair max(const Tensor& input, std::int64_t dim, bool keepdim) {
  return picked("max", "MaxBackward0", input, dim, keepdim, true);
}
TensorPair min(const Tensor& input, std::int64_t dim, bool keepdim) {
  return picked("min", "MinBackward0", input, dim, keepdim, false);
}

TensorPair aminmax(const Tensor& given, std::optional<std::int64_t> dim, bool keepdim) {
  const Tensor input = detach(given);  // whose sizes no other thread changes
  const ReducedShape over(input, dim ? Sizes(&*dim, 1) : Sizes());
  for (int d = 0; d < over.whole.rank; ++d)
    if (input.numel() == 0 && over.mask >> d & 1 && (!dim || over.whole[d] == 0)) {
      const std::string words = text(
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
          "identity.\n",
          describe("input", input));
      if (dim) throw IndexError(words);
      throw RuntimeError(words);
    }
  Tensor outs[2];
  {
    const GradMode off(false);
    outs[0] = reduce_into_new(kReduction<reduction::Minimum>, input, over, keepdim, input.dtype());
    outs[1] = reduce_into_new(kReduction<reduction::Maximum>, input, over, keepdim, input.dtype());
  }
  if (needs_grad(given))
    record_many("AminmaxBackward0", outs,
                showing(
                    "self min max dim keepdim",
                    [over](std::span<Tensor> g, Node& self, const Saved& x, const SavedOutput& low,
                           const SavedOutput& high) {
                      const auto part = [&](const Tensor& of, const SavedOutput& y) {
                        return of ? shared_by_extremes(of, x.get(), y.get(self), over, false) : of;
                      };
                      const Tensor a = part(g[0], low), b = part(g[1], high);
                      return Gradients(a && b ? add(a, b) : a ? a : b);
                    },
                    Saved(given), SavedOutput(outs[0], 0), SavedOutput(outs[1], 1), dim, keepdim),
                given);
  return {outs[0], outs[1]};
}

Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", input, dim, keepdim, true);
}
Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", input, dim, keepdim, false);
}

Tensor picked_backward(const Tensor& g, const Tensor& indices, const Shape& whole, int dim,
                       bool keepdim) {
  if (whole.rank == 0) return g;
  const bool flat = !keepdim && g.dim() < whole.rank;
  const Tensor part = flat ? unsqueeze(g, dim) : g, at = flat ? unsqueeze(indices, dim) : indices;
  return scatter_add(zeros(whole, g.dtype(), g.device()), dim, at, part);
}

}  // namespace rushlight
