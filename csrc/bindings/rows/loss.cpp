// The losses of torch.nn.functional that are one op each, under torch's own signatures.
// size_average and reduce are the old way to say the reduction: they still work, with a warning.
#include "ops/loss.h"

#include "bindings/table/signature.h"
#include "functional.h"
#include "ops/cross_entropy.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Any = py::handle;
using Maybe = std::optional<Tensor>;
using Word = std::string_view;

bool is_true(Any flag) {  // None: not given, which means yes
  const int truth = flag.is_none() ? 1 : PyObject_IsTrue(flag.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}
// The reduction that size_average and reduce mean.
std::string legacy_reduction(Any size_average, Any reduce, std::int64_t frames) {
  const char* name = !is_true(reduce) ? "none" : is_true(size_average) ? "mean" : "sum";
  warn_at(text("size_average and reduce args will be deprecated, please use reduction='", name,
               "' instead."),
          frames);
  return name;
}
// `legacy` holds what the result points to.
Word chosen(Any size_average, Any reduce, Word reduction, std::string& legacy) {
  if (size_average.is_none() && reduce.is_none()) [[likely]]
    return reduction;
  return legacy = legacy_reduction(size_average, reduce, 1);
}

void warn_of_broadcast(const Tensor& input, const Tensor& target) {
  if (same(input.sizes(), target.sizes())) [[likely]]
    return;
  warn_at(text("Using a target size (torch.Size(", target.sizes(),
               ")) that is different to the input size (torch.Size(", input.sizes(),
               ")). This will likely lead to incorrect results due to broadcasting. Please ensure "
               "they have the same size."),
          1);
}

// loss(reduction), or its elements times their weights: the mean divides by the sum of those, that
// of huber_loss by their number.
template <class Loss>
Tensor weighted(const Loss& loss, const Tensor& input, const Maybe& weight, Word reduction,
                bool by_number = false) {
  if (!weight) [[likely]]
    return loss(reduction);
  const Reduction how = reduction_of(reduction);
  if (!same(weight->sizes(), input.sizes()))
    fail<ValueError>("Weights and input must have the same size.");
  const Tensor all = mul(loss("none"), *weight);
  if (how != Reduction::mean || by_number) return reduced(all, how);
  return div(reduced(all, Reduction::sum), reduced(*weight, Reduction::sum));
}

Tensor mse_of(const Tensor& input, const Tensor& target, Any size_average, Any reduce,
              Word reduction, Maybe weight) {
  std::string legacy;
  warn_of_broadcast(input, target);
  return weighted([&](Word how) { return mse_loss(input, target, how); }, input, weight,
                  chosen(size_average, reduce, reduction, legacy));
}
Tensor l1_of(const Tensor& input, const Tensor& target, Any size_average, Any reduce,
             Word reduction, Maybe weight) {
  std::string legacy;
  warn_of_broadcast(input, target);
  return weighted([&](Word how) { return l1_loss(input, target, how); }, input, weight,
                  chosen(size_average, reduce, reduction, legacy));
}
Tensor smooth_l1_of(const Tensor& input, const Tensor& target, Any size_average, Any reduce,
                    Word reduction, double beta) {
  std::string legacy;
  warn_of_broadcast(input, target);
  reduction = chosen(size_average, reduce, reduction, legacy);
  return beta == 0 ? l1_loss(input, target, reduction)
                   : smooth_l1_loss(input, target, reduction, beta);
}
Tensor huber_of(const Tensor& input, const Tensor& target, Word reduction, double delta,
                Maybe weight) {
  warn_of_broadcast(input, target);
  return weighted([&](Word how) { return huber_loss(input, target, how, delta); }, input, weight,
                  reduction, true);
}

Tensor nll_of(const Tensor& input, const Tensor& target, Maybe weight, Any size_average,
              std::int64_t ignore_index, Any reduce, Word reduction) {
  std::string legacy;
  return nll_loss(input, target, weight, chosen(size_average, reduce, reduction, legacy),
                  ignore_index);
}

Tensor cross_entropy_of(const Tensor& input, const Tensor& target, Maybe weight, Any size_average,
                        std::int64_t ignore_index, Any reduce, std::string_view reduction,
                        double label_smoothing) {
  std::string legacy;
  reduction = chosen(size_average, reduce, reduction, legacy);
  if (ignore_index >= 0 && is_floating(target.dtype()))
    fail<RuntimeError>("ignore_index is not supported for floating point target, got ignore_index=",
                       ignore_index, " and a target of ", target.dtype());
  return cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing);
}

Tensor bce_of(const Tensor& input, const Tensor& target, Maybe weight, Any size_average, Any reduce,
              Word reduction) {
  std::string legacy;
  reduction = chosen(size_average, reduce, reduction, legacy);
  if (!same(input.sizes(), target.sizes()))
    fail<ValueError>("Using a target size (torch.Size(", target.sizes(),
                     ")) that is different to the input size (torch.Size(", input.sizes(),
                     ")) is deprecated. Please ensure they have the same size.");
  if (autocast.cuda && input.device().is_cuda())
    fail<RuntimeError>(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\nIn this "
        "case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
        "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
        "safe to autocast.");
  return binary_cross_entropy(input, target, weight, reduction);
}
Tensor bce_with_logits_of(const Tensor& input, const Tensor& target, Maybe weight, Any size_average,
                          Any reduce, Word reduction, Maybe pos_weight) {
  std::string legacy;
  reduction = chosen(size_average, reduce, reduction, legacy);
  if (!same(input.sizes(), target.sizes()))
    fail<ValueError>("Target size (torch.Size(", target.sizes(),
                     ")) must be the same as input size (torch.Size(", input.sizes(), "))");
  return binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction);
}

void bind_distances(py::module_& m) {
  constexpr Row kRow{.as = As::functional, .autocast = kFull};
  op<&mse_of>(m,
              "mse_loss(input, target, size_average=None, reduce=None, reduction='mean', "
              "weight=None)",
              kRow,
              R"(The squared error (x - y)^2.

Args:
    weight: a factor for each element, by whose sum the mean divides.
    target: what input is compared with.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

>>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(2.))");
  op<&l1_of>(m,
             "l1_loss(input, target, size_average=None, reduce=None, reduction='mean', "
             "weight=None)",
             with_complex(kRow),
             R"(The absolute error |x - y|.

Args:
    weight: a factor for each element, by whose sum the mean divides.
    target: what input is compared with.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

>>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(1.))");
  op<&smooth_l1_of>(m,
                    "smooth_l1_loss(input, target, size_average=None, reduce=None, "
                    "reduction='mean', beta=1.0)",
                    kRow,
                    R"((x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2.

Args:
    target: what input is compared with.
    beta: where the loss changes from quadratic to linear.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

>>> torch.nn.functional.smooth_l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(0.7500))");
  op<&huber_of>(m, "huber_loss(input, target, reduction='mean', delta=1.0, weight=None)", kRow,
                R"((x - y)^2 / 2 where |x - y| < delta, else delta * (|x - y| - delta / 2).

Args:
    target: what input is compared with.
    weight: a factor for each element, by whose sum the mean divides.
    delta: where the loss changes from quadratic to linear.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

>>> torch.nn.functional.huber_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(0.7500))");
}

}  // namespace

void bind_losses(py::module_& m) {
  bind_distances(m);
  // For losses in Python: the first frame is their helper, the third one the program's.
  op<&legacy_reduction>(m, "_legacy_reduction(size_average, reduce, frames=3)", As::functional);
  op<&cross_entropy_of>(
      m,
      "cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, "
      "reduce=None, reduction='mean', label_smoothing=0.0)",
      {.as = As::functional, .autocast = kFull},
      R"(-log softmax(x)[target] of logits x, against class indices or probabilities.

Args:
    weight: a factor for each class, shape (c).
    input: logits.
    target: class indices, or a probability for each class.
    ignore_index: targets of this value do not count.
    label_smoothing: the share of the target that is spread evenly over all classes.

Shape:
    input (n, c, *) or (c), target (n, *) class indices or (n, c, *) probabilities; the result is
    (), or that of class indices with reduction='none'.

Raises:
    IndexError: for a target that is no class; its index is named.

>>> torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]))
tensor(0.6931))");
  op<&nll_of>(m,
              "nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, "
              "reduce=None, reduction='mean')",
              {.as = As::functional, .autocast = kFull},
              R"(-x[target] of log-probabilities x, against class indices.

Args:
    weight: a factor for each class, shape (c).
    input: log-probabilities.
    target: class indices.
    ignore_index: targets of this value do not count.

Shape:
    input (n, c, *) or (c), target (n, *) or (); the result is (), or that of target with
    reduction='none'.

>>> torch.nn.functional.nll_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
tensor(1.))");
  op<&bce_of>(m,
              "binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, "
              "reduction='mean')",
              {.as = As::functional, .autocast = kFullOnCpu},
              R"(-(y log x + (1 - y) log(1 - x)), with logarithms no less than -100.

Args:
    target: what input is compared with.
    weight: a factor for each element; it broadcasts.
    input: probabilities, from 0 to 1.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

Raises:
    ValueError: when the sizes differ.
    RuntimeError: for an input outside [0, 1].

>>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
tensor(0.6931))");
  op<&bce_with_logits_of>(
      m,
      "binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, "
      "reduce=None, reduction='mean', pos_weight=None)",
      {.as = As::functional, .autocast = kFull},
      R"(binary_cross_entropy(sigmoid(x), y), computed without overflow.

Args:
    target: what input is compared with.
    weight: a factor for each element; it broadcasts.
    input: logits.
    pos_weight: a factor for the positive examples of each class.

Shape:
    input and target have one shape; the result is (), or that shape with reduction='none'.

>>> F = torch.nn.functional
>>> F.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
tensor(0.6931))");
}

}  // namespace rushlight::python
