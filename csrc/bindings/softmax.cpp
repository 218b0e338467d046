// Softmax, losses and embedding as functions (softmax as a method too).
#include "ops/softmax.h"

#include "bindings/module.h"
#include "bindings/signature.h"
#include "ops/cross_entropy.h"
#include "ops/embedding.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Maybe = std::optional<Tensor>;
using Word = std::string_view;

Tensor nll_op(const Tensor& input, const Tensor& target, Maybe weight, Word reduction,
              std::int64_t ignore_index) {
  return nll_loss(input, target, weight, reduction, ignore_index);
}
Tensor bce_op(const Tensor& input, const Tensor& target, Maybe weight, Word reduction) {
  if (autocast.cuda && input.device().is_cuda())
    fail<RuntimeError>(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\nIn this "
        "case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
        "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
        "safe to autocast.");
  return binary_cross_entropy(input, target, weight, reduction);
}
Tensor bce_with_logits_op(const Tensor& input, const Tensor& target, Maybe weight, Maybe pos_weight,
                          Word reduction) {
  return binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction);
}

Tensor bag_op(const Tensor& weight, const Tensor& indices, const Tensor& offsets, Word mode,
              Maybe weights, std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  return embedding_bag(weight, indices, offsets, mode, weights, padding_idx, scale_grad_by_freq,
                       sparse);
}

void bind_losses(py::module_& m) {
  op<&nll_op>(m, "nll_loss(input, target, weight=None, reduction='mean', ignore_index=-100)",
              {.as = As::function, .autocast = kFull},
              R"(-input[target], for log-probabilities and class indices.

Shape: input (n, c, *) or (c); target (n, *) or () of int64; weight (c).

    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.]]), torch.tensor([1]))
    tensor(2.)
)");
  op<&mse_loss>(m, "mse_loss(input, target, reduction='mean')",
                {.as = As::function, .autocast = kFull},
                R"((input - target)^2, reduced.

Args:
    reduction: 'mean', 'sum' or 'none'

    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
)");
  op<&l1_loss>(m, "l1_loss(input, target, reduction='mean')",
               {.as = As::function, .autocast = kFull},
               R"(|input - target|, reduced.

    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
)");
  op<&smooth_l1_loss>(m, "smooth_l1_loss(input, target, reduction='mean', beta=1.0)",
                      {.as = As::function, .autocast = kFull},
                      R"(Squared below beta, absolute above: d^2 / (2 beta) or d - beta / 2.

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1., 2.]), torch.tensor([2., 5.]))
    tensor(1.5000)
)");
  op<&huber_loss>(m, "huber_loss(input, target, reduction='mean', delta=1.0)",
                  {.as = As::function, .autocast = kFull},
                  R"(Squared below delta, absolute above: d^2 / 2 or delta (d - delta / 2).

    >>> torch.nn.functional.huber_loss(torch.tensor([1., 2.]), torch.tensor([2., 5.]))
    tensor(1.5000)
)");
  op<&bce_op>(m, "binary_cross_entropy(input, target, weight=None, reduction='mean')",
              {.as = As::function, .autocast = kFullOnCpu},
              R"(-(t log x + (1 - t) log(1 - x)), reduced; x lies in [0, 1].

    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)
)");
  op<&bce_with_logits_op>(m,
                          "binary_cross_entropy_with_logits(input, target, weight=None, "
                          "pos_weight=None, reduction='mean')",
                          {.as = As::function, .autocast = kFull},
                          R"(binary_cross_entropy of sigmoid(input), without overflow.

Args:
    pos_weight: a weight for the examples with target 1

    >>> F = torch.nn.functional
    >>> F.binary_cross_entropy_with_logits(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)
)");
}

}  // namespace

void bind_softmax(py::module_& m) {
  op<&softmax>(m, "softmax(input, dim, dtype=None, *, out=None)",
               {.autocast = kFullOnCuda, .exact = true},
               R"(exp(x) / sum(exp(x)) along a dimension.

Args:
    dtype: the input is cast to it first.

>>> torch.softmax(torch.tensor([0., 0.]), 0)
tensor([0.5000, 0.5000]))");
  op<&log_softmax>(m, "log_softmax(input, dim, dtype=None, *, out=None)",
                   {.autocast = kFullOnCuda, .exact = true},
                   "log(softmax(x)), computed without loss for small probabilities.\n\n>>> "
                   "torch.log_softmax(torch.tensor([0., 0.]), 0)\ntensor([-0.6931, -0.6931])");
  bind_losses(m);
  op<&embedding>(m,
                 "embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, "
                 "sparse=False)",
                 As::function,
                 R"(Rows of `weight` by index.

Shape: weight (rows, size), indices (*) of int64 or int32 give (*, size).

Raises:
    IndexError: for an index that is no row, before anything is written.

>>> torch.embedding(torch.tensor([[1.], [2.]]), torch.tensor([1, 0]))
tensor([[2.],
        [1.]]))");
  op<&bag_op>(m,
              "_embedding_bag_of(weight, indices, offsets, mode, per_sample_weights=None, "
              "padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
              As::function, "torch.nn.functional.embedding_bag() without its checks of shapes.");
  op<&one_hot>(m, "one_hot(tensor, num_classes=-1)", As::functional,
               "Class indices as rows of 0 and 1.\n\n>>> "
               "torch.nn.functional.one_hot(torch.tensor([1, 0]))\ntensor([[0, 1],\n        [1, "
               "0]])");
}

}  // namespace rushlight::python
