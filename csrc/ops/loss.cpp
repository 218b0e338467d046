// Elementwise losses: the formulas are pointwise ops, the reductions ops on top of them.
#include "ops/loss.h"

#include "autograd/showing.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"

namespace rushlight {

Reduction reduction_of(std::string_view name) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  fail<ValueError>(name, " is not a valid value for reduction");
}

Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  const Tensor total = sum(loss, Shape(), false);
  return reduction == Reduction::mean ? apply<Div>(total, Scalar(loss.numel())) : total;
}

namespace {

// `losses` reduced under one node of the loss's own name, as torch has it: mean and sum add no node
// of theirs. The loss's node is an edge further, and what it saved is unchanged; this one shows it.
struct ShownLoss {
  const char* names = "";  // of the reduction, the operands, then of a parameter or of weights
  const Tensor *input = nullptr, *target = nullptr;
  std::optional<Scalar> parameter{};
  const std::optional<Tensor>*weight = nullptr, *pos_weight = nullptr;
};
Tensor reduced_as(const char* node, const Tensor& losses, Reduction reduction,
                  const ShownLoss& shown = {}) {
  if (reduction == Reduction::none) return losses;
  Tensor total;
  {
    const GradMode off(false);
    total = reduced(losses, reduction);
  }
  if (!needs_grad(losses)) return total;
  const double scale = reduction == Reduction::mean ? 1 / double(losses.numel()) : 1;
  const auto kept = [](const std::optional<Tensor>* t) {
    return t ? t->value_or(Tensor()) : Tensor();
  };
  total = record(node, std::move(total),
                 showing(
                     shown.names,
                     [scale, shape = losses.shape()](Tensor g, Node&) {
                       return Gradients(expand(scale == 1 ? g : mul(g, Scalar(scale)), shape));
                     },
                     std::int64_t(reduction), shown.input ? *shown.input : Tensor(),
                     shown.target ? *shown.target : Tensor(), shown.parameter, kept(shown.weight),
                     kept(shown.pos_weight)),
                 losses);
  total->node->is_second_half = true;
  return total;
}

// A tensor without dimensions that meets one with some: expanded, so that its dtype counts.
Tensor beside(const Tensor& t, const Tensor& other) {
  return t.dim() || !other.dim() || t.dtype() == other.dtype() ? t : expand(t, other.shape());
}

template <class Op>
Tensor losses_of(const char* op, const Tensor& input, const Tensor& target,
                 std::optional<double> parameter = std::nullopt) {
  check_same_device(op, input, "input", target, "target");
  const Tensor x = beside(input, target), y = beside(target, input);
  const Input inputs[] = {as_input(x), as_input(y)};
  const Scalar parameters[kMaxParameters] = {Scalar(parameter.value_or(0))};
  return pointwise(pointwise_op<Op>(), inputs, parameters);
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  return reduced_as("MseLossBackward0", losses_of<MseLoss>("mse_loss", input, target),
                    reduction_of(reduction), {"reduction self target", &input, &target});
}

Tensor l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  const Reduction r = reduction_of(reduction);
  const DType a = input.dtype(), b = target.dtype();
  if (a == DType::boolean || b == DType::boolean ||
      !(is_differentiable(a) || is_differentiable(b))) {
    const Tensor losses = apply<Abs>(sub(input, target));
    if (r == Reduction::mean)  // bools are refused already
      fail<RuntimeError>(
          "mean(): could not infer output dtype. Input dtype must be either a floating point or "
          "complex dtype. Got: ",
          scalar_name(losses.dtype()), "\nl1_loss(): ", describe("input", input), ", ",
          describe("target", target), ": convert one with .float(), or use reduction='sum'");
    return reduced(losses, r);
  }
  return reduced_as(r == Reduction::mean ? "MeanBackward0" : "SumBackward0",
                    losses_of<L1Loss>("l1_loss", input, target), r);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                      double beta) {
  if (beta < 0) fail<RuntimeError>("smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return l1_loss(input, target, reduction);
  return reduced_as(
      "SmoothL1LossBackward0", losses_of<SmoothL1Loss>("smooth_l1_loss", input, target, beta),
      reduction_of(reduction), {"reduction self target beta", &input, &target, Scalar(beta)});
}

Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                  double delta) {
  if (!(delta > 0))
    fail<RuntimeError>("huber_loss does not support non-positive values for delta.");
  const Reduction r = reduction_of(reduction);
  const DType dtype = input.dtype(), other = target.dtype();
  if (dtype == other)
    return reduced_as("HuberLossBackward0",
                      losses_of<HuberLoss>("huber_loss", input, target, delta), r,
                      {"reduction self target delta", &input, &target, Scalar(delta)});
  // As torch: the result is of the input's dtype, and there are no gradients of mixed dtypes.
  if (!is_floating(dtype) && is_floating(other))
    fail<RuntimeError>("result type ", scalar_name(other),
                       " can't be cast to the desired output type ", scalar_name(dtype),
                       "\nhuber_loss(): ", describe("input", input), ", ",
                       describe("target", target), ": convert one with .to(other.dtype)");
  Tensor out;
  {
    const GradMode off(false);
    out = to(reduced(losses_of<HuberLoss>("huber_loss", input, target, delta), r), dtype);
  }
  return record(
      "HuberLossBackward0", std::move(out),
      [dtype, other](Tensor) -> Gradients {
        fail<RuntimeError>("Found dtype ", scalar_name(other), " but expected ", scalar_name(dtype),
                           "\nhuber_loss() has no gradient where the target has another dtype "
                           "than the input: convert it with target.to(input.dtype)");
      },
      input, target);
}

// All of it: NaN is not.
static Tensor is_between_0_and_1(const Tensor& t) {
  const auto [low, high] = aminmax(t, {}, false);
  return apply<LogicalAnd>(apply<Ge>(low, Scalar(0)), apply<Le>(high, Scalar(1)));
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const std::optional<Tensor>& weight, std::string_view reduction) {
  check_same_device("binary_cross_entropy", input, "input", target, "target");
  if (target.dtype() != input.dtype())
    fail<RuntimeError>("Found dtype ", scalar_name(target.dtype()), " but expected ",
                       scalar_name(input.dtype()),
                       "\nbinary_cross_entropy(): ", describe("input", input), ", ",
                       describe("target", target), ": convert it with target.to(input.dtype)");
  if (input.numel() != 0 && target.numel() != 0 && !input.device().is_meta()) {
    const GradMode off(false);
    const Tensor good = is_between_0_and_1(input);
    if (!item(apply<LogicalAnd>(good, is_between_0_and_1(target))).as_int()) {
      if (item(good).as_int())
        fail<RuntimeError>("all elements of target should be between 0 and 1\n",
                           describe("target", target));
      fail<RuntimeError>("all elements of input should be between 0 and 1\n",
                         describe("input", input),
                         ": apply sigmoid first, or use binary_cross_entropy_with_logits");
    }
  }
  Tensor loss = apply<BinaryCrossEntropy>(input, target);
  if (weight) loss = to(mul(loss, *weight), input.dtype());
  return reduced_as("BinaryCrossEntropyBackward0", loss, reduction_of(reduction),
                    {"reduction self target - weight", &input, &target, {}, &weight});
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight,
                                        std::string_view reduction) {
  check_same_device("binary_cross_entropy_with_logits", input, "input", target, "target");
  if (target.dtype() == DType::boolean)
    fail<RuntimeError>(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.\nbinary_cross_entropy_with_logits(): ",
        describe("target", target), ": convert it with .to(input.dtype)");
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"log_sigmoid_cpu\" not implemented for '",
                              scalar_name(input.dtype()), "'\n", describe("input", input));
  if (!is_floating(target.dtype()))
    fail<RuntimeError>("result type ", scalar_name(input.dtype()),
                       " can't be cast to the desired output type ", scalar_name(target.dtype()),
                       "\nbinary_cross_entropy_with_logits(): ", describe("input", input), ", ",
                       describe("target", target), ": convert it with target.to(input.dtype)");
  Tensor loss = pos_weight ? apply<BceWithLogitsWeighted>(input, target, *pos_weight)
                           : apply<BceWithLogits>(input, target);
  if (weight) loss = mul(loss, *weight);
  return reduced_as(
      "BinaryCrossEntropyWithLogitsBackward0", to(loss, target.dtype()), reduction_of(reduction),
      {"reduction self target - weight pos_weight", &input, &target, {}, &weight, &pos_weight});
}

}  // namespace rushlight
