// Cross entropy of class indices: one fused kernel each way, the softmax is never stored. Gradients
// that must be differentiable, and class probabilities, go through log_softmax and ops.
#include "ops/cross_entropy.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/operands.h"
#include "core/unlocked.h"
#include "kernels/cross_entropy.h"
#include "ops/pointwise/pointwise.h"
#include "ops/softmax.h"

namespace rushlight {
namespace {

// Input seen as (n, classes, inner), targets as (n, inner), both dense.
struct Operands {
  Tensor input, target, weight;
  CrossEntropyShape shape;
  Shape losses;  // of the unreduced result
  bool planes;  // more than (n, classes)
};

void check_weight(const Tensor& input, const std::optional<Tensor>& weight, std::int64_t classes) {
  if (!weight) return;
  check_operands("cross_entropy", "nll_loss_forward", {"input", "self", input},
                 {"weight", "weight", *weight});
  if (weight->dim() != 1 || weight->numel() != classes)
    fail<RuntimeError>("weight tensor should be defined either for all ", classes,
                       " classes or no classes but got weight tensor of shape: ", weight->sizes());
  if (weight->dtype() != input.dtype())
    fail<RuntimeError>("expected scalar type ", scalar_name(input.dtype()), " but found ",
                       scalar_name(weight->dtype()), "\n", describe("input", input), "; ",
                       describe("weight", *weight));
}

// What the kernels see of the operands, which the shape describes in plain numbers.
View input_view(const Operands& o) {
  return dense_view(o.input, o.input.dtype(), o.shape.n * o.shape.classes * o.shape.inner);
}
View target_view(const Operands& o) {
  return dense_view(o.target, DType::int64, o.shape.n * o.shape.inner);
}
View weight_view(const Operands& o) {
  return o.weight ? dense_view(o.weight, o.input.dtype(), o.shape.classes) : View{};
}

// At backward too: the targets' memory may be shared with an array that was written to since.
void check_targets(const Operands& o) {
  if (o.target.numel() == 0 || o.target.device().is_meta()) return;
  const Backend& b = backend(o.target.device());
  const std::int64_t bad = b.cross_entropy->check_targets(o.shape, target_view(o));
  if (bad >= 0)
    fail<IndexError>("Target ", element(o.target, o.target.offset() + bad).as_int(),
                     " is out of bounds.\nThe target at flat position ", bad, " must lie in [0, ",
                     o.shape.classes, ") or be ignore_index ", o.shape.ignore_index, "; ",
                     describe("input", o.input));
}

Operands operands(const char* name, const char* kernel, const Tensor& input, const Tensor& target,
                  const std::optional<Tensor>& weight, std::int64_t ignore_index) {
  check_operands(name, "nll_loss_forward", {"input", "self", input}, {"target", "target", target});
  const int dim = input.dim();
  if (dim < 1) fail<ValueError>("Expected 1 or more dimensions (got ", dim, ")");
  const bool single = dim == 1;
  const std::int64_t targets = target.dim() ? target->shape[0] : 0;
  if (!single && (target.dim() == 0 || input->shape[0] != targets))
    fail<ValueError>("Expected input batch_size (", input->shape[0],
                     ") to match target batch_size (", targets, ").\n", describe("input", input),
                     "; ", describe("target", target));
  if (single && target.dim() == 1 && targets != 1)
    fail<ValueError>("For 1D input, 1D target must have size 1, but got target size: ", targets);
  if (dim <= 2 && target.dim() > 1)
    fail<RuntimeError>("0D or 1D target tensor expected, multi-target not supported\n",
                       describe("input", input), "; ", describe("target", target),
                       ": one class index for each row of the input");
  Shape losses = input.shape();
  for (int d = single ? 0 : 1; d + 1 < dim; ++d) losses[d] = losses[d + 1];
  losses.rank = std::int8_t(dim - 1);
  if (!same(target.sizes(), losses)) {
    if (dim > 2) fail<RuntimeError>("Expected target size ", losses, ", got ", target.sizes());
    if (!single)
      fail<RuntimeError>("size mismatch (got input: ", input.sizes(), ", target: ", target.sizes(),
                         ")");
  }
  if (target.dtype() != DType::int64 && target.dtype() != DType::uint8)
    fail<RuntimeError>("expected target dtype to be Long or Byte, but got ",
                       scalar_name(target.dtype()), "\n", describe("target", target));
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
  Operands o;
  o.losses = losses;
  o.planes = dim > 2;
  o.shape.n = single ? 1 : input->shape[0];
  o.shape.classes = input->shape[single ? 0 : 1];
  o.shape.inner = 1;
  for (int d = 2; d < dim; ++d) o.shape.inner = checked_mul(o.shape.inner, input->shape[d]);
  o.shape.ignore_index = ignore_index;
  check_weight(input, weight, o.shape.classes);
  const GradMode off(false);
  // Bodies of our own, whose sizes and memory no other thread changes.
  o.input = contiguous(detach(input));
  o.target = contiguous(to(detach(target), DType::int64));
  if (weight) o.weight = contiguous(detach(*weight));
  check_targets(o);
  return o;
}

// What the kernels leave behind.
struct Sums {
  Tensor losses, log_sums, totals;
};
Sums empty_sums(const Operands& o) {
  const DType dtype = computed_in(o.input);
  const Device device = o.input.device();
  return {empty({o.shape.n, o.shape.inner}, dtype, device),
          empty({2, o.shape.n, o.shape.inner}, dtype, device), empty({2}, dtype, device)};
}

Tensor result_of(const Operands& o, const Sums& s, Reduction reduction) {
  const GradMode off(false);
  const DType dtype = o.input.dtype();
  if (reduction == Reduction::none) return to(reshape(s.losses, o.losses), dtype);
  if (s.totals.device().is_cpu()) {  // two numbers at hand: no ops for them
    const double sum = element(s.totals, 0).as_double(), weight = element(s.totals, 1).as_double();
    const double total = reduction == Reduction::mean ? sum / weight : sum;
    return scalar_tensor(Scalar(s.totals.dtype() == DType::float32 ? double(float(total)) : total),
                         dtype, kCpu);
  }
  const Tensor loss = select(s.totals, 0, 0);
  const Tensor total =
      reduction == Reduction::mean ? div(loss, select(s.totals, 0, 1)) : clone(loss);
  return to(total, dtype);
}

// The factor of each example's gradient, for the kernels.
Tensor factor_of(const Tensor& g, const Sums& s, Reduction reduction) {
  const Tensor grad = contiguous(to(g, s.losses.dtype()));
  if (reduction == Reduction::none) return grad;
  return reduction == Reduction::mean ? div(grad, select(s.totals, 0, 1)) : grad;
}

double nanoseconds(const Operands& o) { return double(o.input.numel()) * 0.4; }

// weight[target], 0 where ignored, shaped (n, inner): through a one-hot, as all that follows is.
Tensor one_hot_weights(const Operands& o) {
  const GradMode off(false);
  const Tensor classes = view(arange(0, o.shape.classes, 1, {DType::int64, o.input.device()}),
                              {1, o.shape.classes, 1});
  const Tensor spread = view(o.target, {o.shape.n, 1, o.shape.inner});
  Tensor hot = to(apply<Eq>(spread, classes), o.input.dtype());
  const Tensor kept = to(apply<Ne>(spread, Scalar(o.shape.ignore_index)), o.input.dtype());
  hot = mul(hot, kept);
  return o.weight ? mul(hot, view(o.weight, {1, o.shape.classes, 1})) : hot;
}

// d(sum of losses) / d(logarithms of softmax), (n, classes, inner): a constant, so gradients of
// gradients are products with it.
Tensor slope_of(const Operands& o) {
  const GradMode off(false);
  const double smoothing = o.shape.label_smoothing;
  const Tensor slope = mul(one_hot_weights(o), Scalar(smoothing - 1));
  if (smoothing == 0) return slope;
  const Tensor kept = to(apply<Ne>(o.target, Scalar(o.shape.ignore_index)), o.input.dtype());
  const Tensor share =
      mul(view(kept, {o.shape.n, 1, o.shape.inner}), Scalar(-smoothing / double(o.shape.classes)));
  if (!o.weight) return add(slope, share);
  return add(slope, mul(share, view(o.weight, {1, o.shape.classes, 1})));
}

// The sum of the weights that mean divides by.
Tensor divisor_of(const Operands& o) {
  const GradMode off(false);
  return sum(one_hot_weights(o), Shape(), false);
}

// g, one value or one for each example, beside (n, classes, inner).
Tensor spread_factor(const Operands& o, const Tensor& g, Reduction reduction) {
  if (reduction == Reduction::none) return reshape(g, {o.shape.n, 1, o.shape.inner});
  return reduction == Reduction::mean ? div(g, divisor_of(o)) : g;
}

// cross_entropy's gradient as ops of the input and of g.
Tensor gradient_formula(const Operands& o, const Tensor& input, const Tensor& g,
                        Reduction reduction) {
  const Tensor x = reshape(input, {o.shape.n, o.shape.classes, o.shape.inner});
  const Tensor of_logs = mul(slope_of(o), spread_factor(o, to(g, input.dtype()), reduction));
  const Tensor p = softmax(x, 1);
  return reshape(sub(of_logs, mul(p, sum(of_logs, Shape{1}, true))), input.shape());
}

// What torch's node keeps of the input and of the targets, made when it is shown: where there are
// more dimensions than (n, classes), as images.
struct LogProbabilities {};
struct Planes {
  Tensor t;
  bool are_targets, are_planes;
};
Tensor as_planes(const Tensor& t, bool are_targets) {
  if (t.dim() == (are_targets ? 3 : 4)) return t;
  const GradMode off(false);
  return reshape(t,
                 are_targets ? Shape{t->shape[0], 1, -1} : Shape{t->shape[0], t->shape[1], 1, -1});
}
SavedValue value_of(const Planes& p, Node&) {
  return p.are_planes ? as_planes(p.t, p.are_targets) : p.t;
}
SavedValue value_of(const LogProbabilities&, Node& node) {
  const GradMode off(false);
  const Tensor input = std::get<Tensor>(node.saved_value(0));
  const Tensor found = log_softmax(input, input.dim() > 1 ? 1 : 0);
  return input.dim() > 2 ? as_planes(found, false) : found;
}

struct TotalWeight {
  Tensor totals;
  Reduction reduction;
};
SavedValue value_of(const TotalWeight& t, Node&) {
  if (t.reduction == Reduction::none) return zeros({}, t.totals.dtype(), t.totals.device());
  return select(t.totals, 0, 1);
}

}  // namespace

// Probabilities: an average of log_softmax.
static Tensor probability_loss(const Tensor& input, const Tensor& target,
                               const std::optional<Tensor>& weight, Reduction reduction,
                               double smoothing) {
  if (!is_floating(target.dtype()))
    fail<RuntimeError>("Expected floating point type for target with class probabilities, got ",
                       scalar_name(target.dtype()));
  const int at = input.dim() > 1 ? 1 : 0;
  const std::int64_t classes = input.dim() == 0 ? 1 : input->shape[at];
  check_same_device("cross_entropy", input, "input", target, "target");
  check_weight(input, weight, classes);
  Tensor expected = target;
  if (smoothing > 0)
    expected = apply<Add>(mul(target, Scalar(1 - smoothing)), Scalar(smoothing / double(classes)));
  Tensor product = mul(log_softmax(input, at), expected);
  if (weight) {
    Shape shape;
    for (int d = 0; d < input.dim(); ++d) shape.push_back(d == at ? classes : 1);
    product = mul(product, view(contiguous(*weight), shape));
  }
  if (reduction == Reduction::none) return neg(sum(product, Shape{at}, false));
  const Tensor total = neg(sum(product, Shape(), false));
  if (reduction == Reduction::sum) return total;
  const std::int64_t examples = input.numel() / std::max<std::int64_t>(classes, 1);
  return apply<Div>(total, Scalar(examples));
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                     std::string_view reduction_name, std::int64_t ignore_index,
                     double label_smoothing) {
  const Reduction reduction = reduction_of(reduction_name);
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    fail<RuntimeError>("label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (same(input.sizes(), target.sizes()))
    return probability_loss(input, target, weight, reduction, label_smoothing);
  Operands o = operands("cross_entropy", "log_softmax_lastdim_kernel_impl", input, target, weight,
                        ignore_index);
  o.shape.label_smoothing = label_smoothing;
  Sums s = empty_sums(o);
  if (!input.device().is_meta()) {
    const View x = input_view(o), t = target_view(o), l = view_of(s.losses),
               e = view_of(s.log_sums), r = view_of(s.totals);
    const View w = weight_view(o);
    const CrossEntropyKernels& kernels = *backend(input.device()).cross_entropy;
    const Unlocked unlocked(nanoseconds(o),
                            {&o.input, &o.target, &o.weight, &s.losses, &s.log_sums, &s.totals});
    kernels.forward(o.shape, x, t, o.weight ? &w : nullptr, l, e, r);
  }
  // torch adds two losses where labels are smoothed
  const char* last = label_smoothing > 0 ? "AddBackward0"
                     : o.planes          ? "NllLoss2DBackward0"
                                         : "NllLossBackward0";
  Tensor result = result_of(o, s, reduction);
  TotalWeight total{s.totals, reduction};
  Planes targets{target, true, o.planes};
  return record(
      last, std::move(result),
      showing(
          label_smoothing > 0 ? "-" : "- self reduction ignore_index target weight total_weight",
          [o = std::move(o), s = std::move(s), reduction](Tensor g, Node&, const Saved& x) {
            const Tensor& input = x.get();
            if (grad_enabled()) return Gradients(gradient_formula(o, input, g, reduction));
            Tensor out = empty(input.sizes(), input.dtype(), input.device());
            if (out.numel() == 0 || out.device().is_meta()) return Gradients(out);
            check_targets(o);
            const Tensor factor = factor_of(g, s, reduction);
            const View f = view_of(factor), v = input_view(o), t = target_view(o),
                       e = view_of(s.log_sums), r = dense_view(out, v.dtype, v.numel);
            const View w = weight_view(o);
            const CrossEntropyKernels& kernels = *backend(input.device()).cross_entropy;
            const Unlocked unlocked(nanoseconds(o),
                                    {&o.input, &o.target, &o.weight, &factor, &s.log_sums, &out});
            kernels.backward(o.shape, f, v, t, o.weight ? &w : nullptr, e, r);
            return Gradients(out);
          },
          Saved(input), LogProbabilities(), std::int64_t(reduction), ignore_index,
          std::move(targets), weight.value_or(Tensor()), std::move(total)),
      input);
}

// The gradient of nll_loss is linear in g and independent of the input.
static Tensor nll_gradient(const Operands& o, const Sums& s, const Tensor& g, Reduction reduction,
                           const Shape& sizes) {
  Tensor out = empty(sizes, o.input.dtype(), o.input.device());
  if (out.numel() != 0 && !out.device().is_meta()) {
    const GradMode off(false);
    check_targets(o);
    const Tensor factor = factor_of(g, s, reduction);
    const std::int64_t numel = o.shape.n * o.shape.classes * o.shape.inner;
    const View f = view_of(factor), t = target_view(o), r = dense_view(out, out.dtype(), numel);
    const View w = weight_view(o);
    const CrossEntropyKernels& kernels = *backend(out.device()).cross_entropy;
    kernels.nll_backward(o.shape, f, t, o.weight ? &w : nullptr, r);
  }
  return record(
      "NllLossBackwardBackward0", std::move(out),
      [o, reduction, from = g.shape()](Tensor gg) {
        const Tensor flat = reshape(gg, {o.shape.n, o.shape.classes, o.shape.inner});
        const Tensor losses = sum(mul(flat, slope_of(o)), Shape{1}, false);
        if (reduction == Reduction::none) return Gradients(reshape(losses, from));
        const Tensor total = sum(losses, Shape(), false);
        return Gradients(reduction == Reduction::mean ? div(total, divisor_of(o)) : total);
      },
      g);
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                std::string_view reduction_name, std::int64_t ignore_index) {
  const Reduction reduction = reduction_of(reduction_name);
  const Operands o =
      operands("nll_loss", "nll_loss_out_frame", input, target, weight, ignore_index);
  const Sums s = empty_sums(o);
  if (!input.device().is_meta()) {
    const View x = input_view(o), t = target_view(o), l = view_of(s.losses), r = view_of(s.totals);
    const View w = weight_view(o);
    backend(input.device()).cross_entropy->nll(o.shape, x, t, o.weight ? &w : nullptr, l, r);
  }
  return record(o.planes ? "NllLoss2DBackward0" : "NllLossBackward0", result_of(o, s, reduction),
                showing(
                    "reduction ignore_index self target weight total_weight",
                    [o, s, reduction, from = input.shape()](Tensor g, Node&) {
                      return Gradients(nll_gradient(o, s, g, reduction, from));
                    },
                    std::int64_t(reduction), ignore_index, Planes{input, false, o.planes},
                    Planes{target, true, o.planes}, weight.value_or(Tensor()),
                    TotalWeight{s.totals, reduction}),
                input);
}

}  // namespace rushlight
