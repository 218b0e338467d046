// ctc_loss as torch has it, with an int for the reduction, and as nn.functional has it.
#include "ops/ctc.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Lengths = std::vector<std::int64_t>;

Lengths read_lengths(const char* name, const Tensor& t) {
  if (is_floating(t.dtype()) || t.dtype() == DType::boolean)
    fail<RuntimeError>(name, " must be integral\nctc_loss(): ", describe(name, t));
  const GradMode off(false);
  report_wait(t.device(), "ctc_loss");
  const Tensor host = contiguous(to(t, DType::int64, kCpu));
  const View v = view_of(host);
  return Lengths(v.as<const std::int64_t>(), v.as<const std::int64_t>() + v.numel);
}
Reduction numbered(std::int64_t reduction) {
  if (reduction < 0 || reduction > 2)
    fail<RuntimeError>("ctc_loss(): reduction is 0 (none), 1 (mean) or 2 (sum), got ", reduction);
  return Reduction(reduction);
}

Tensor of_lists(const Tensor& log_probs, const Tensor& targets, Lengths input_lengths,
                Lengths target_lengths, std::int64_t blank, std::int64_t reduction,
                bool zero_infinity) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, numbered(reduction),
                  zero_infinity);
}
Tensor of_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                  const Tensor& target_lengths, std::int64_t blank, std::int64_t reduction,
                  bool zero_infinity) {
  return ctc_loss(log_probs, targets, read_lengths("input_lengths", input_lengths),
                  read_lengths("target_lengths", target_lengths), blank, numbered(reduction),
                  zero_infinity);
}
Tensor functional_of_lists(const Tensor& log_probs, const Tensor& targets, Lengths input_lengths,
                           Lengths target_lengths, std::int64_t blank, std::string_view reduction,
                           bool zero_infinity) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction_of(reduction),
                  zero_infinity);
}
Tensor functional_of_tensors(const Tensor& log_probs, const Tensor& targets,
                             const Tensor& input_lengths, const Tensor& target_lengths,
                             std::int64_t blank, std::string_view reduction, bool zero_infinity) {
  return ctc_loss(log_probs, targets, read_lengths("input_lengths", input_lengths),
                  read_lengths("target_lengths", target_lengths), blank, reduction_of(reduction),
                  zero_infinity);
}

constexpr std::string_view kNumbered =
    "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, "
    "zero_infinity=False)";
constexpr std::string_view kNamed =
    "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', "
    "zero_infinity=False)";

}  // namespace

void bind_ctc(py::module_& m) {
  overloads<&of_lists, &of_tensors>(m, {kNumbered, kNumbered},
                                    {.as = As::function, .autocast = kFullOnCpu},
                                    R"(nn.functional.ctc_loss() with an int for the reduction.

Args:
    log_probs: the logarithm of each class's probability at each time step.
    targets: class indices.
    input_lengths, target_lengths: the length of each sequence, as tensors or as tuples of ints.
    blank: the class of the blank label.
    reduction: 0 for none, 1 for the mean, 2 for the sum.
    zero_infinity: whether targets that are too long for their input count as 0 instead of inf.

Shape:
    log_probs (T, N, C) or (T, C), targets (N, S) or (sum of target_lengths), lengths (N); the
    result is () or, unreduced, (N).

>>> torch.ctc_loss(torch.zeros(2, 1, 2).log_softmax(2), torch.tensor([[1]]), (2,), (1,))
tensor([0.2877]))");
  overloads<&functional_of_lists, &functional_of_tensors>(
      m, {kNamed, kNamed}, {.as = As::functional, .autocast = kFullOnCpu},
      R"(-log of the probability that the outputs, repeats and blanks removed, spell the target.

Args:
    log_probs: the logarithm of each class's probability at each time step.
    targets: class indices.
    input_lengths, target_lengths: the length of each sequence, as tensors or as tuples of ints.
    blank: the class of the blank label.
    reduction: 'none', 'sum' or 'mean', which first divides each loss by the length of its target.
    zero_infinity: whether targets that are too long for their input count as 0 instead of inf.

Shape:
    log_probs (t, n, c) or (t, c); targets (n, s), or (sum of target_lengths), or (s) without a
    batch; the loss with reduction='none' is (n).

Raises:
    IndexError: for a target that is no class.

>>> torch.nn.functional.ctc_loss(
...     torch.zeros(2, 1, 2).log_softmax(2), torch.tensor([[1]]), (2,), (1,)
... )
tensor(0.2877))");
}

}  // namespace rushlight::python
