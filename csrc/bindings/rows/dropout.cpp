// Dropout, as torch has it beside nn.functional: see csrc/ops/dropout.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/random/random.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_dropout(py::module_& m) {
  constexpr Row kFunction = with_complex(As::function);  // in evaluation, as they are
  op<&dropout>(m, "dropout(input, p, train)", kFunction,
               R"(Sets elements to 0 with probability p and multiplies the others by 1 / (1 - p).

Args:
    p: the probability that an element is dropped.

Shape:
    that of input.

>>> torch.dropout(torch.ones(3), 0.5, train=False)
tensor([1., 1., 1.]))");
  op<&dropout_>(m, "dropout_(input, p, train)", kFunction, "dropout() in place.");
  op<&alpha_dropout>(m, "alpha_dropout(input, p, train)", kFunction,
                     R"(Dropout that keeps the mean and variance of SELU's outputs.

Args:
    p: the probability that an element is dropped.

Shape:
    that of input.

>>> torch.alpha_dropout(torch.ones(3), 0.5, train=False)
tensor([1., 1., 1.]))");
  op<&alpha_dropout_>(m, "alpha_dropout_(input, p, train)", kFunction, "alpha_dropout() in place.");
  op<&feature_dropout>(m, "feature_dropout(input, p, train)", kFunction,
                       R"(Dropout of whole channels: input (n, c, ...).

Args:
    p: the probability that a channel is dropped.

Shape:
    input (n, c, *) gives the same.

>>> torch.feature_dropout(torch.ones(1, 2, 2), 0.5, train=False).shape
torch.Size([1, 2, 2]))");
  op<&feature_dropout_>(m, "feature_dropout_(input, p, train)", kFunction,
                        "feature_dropout() in place.");
  op<&feature_alpha_dropout>(m, "feature_alpha_dropout(input, p, train)", kFunction,
                             R"(alpha_dropout() of whole channels: input (n, c, ...).

Args:
    p: the probability that a channel is dropped.

Shape:
    input (n, c, *) gives the same.

>>> torch.feature_alpha_dropout(torch.ones(1, 2, 2), 0.5, train=False).shape
torch.Size([1, 2, 2]))");
  op<&feature_alpha_dropout_>(m, "feature_alpha_dropout_(input, p, train)", kFunction,
                              "feature_alpha_dropout() in place.");
}

}  // namespace rushlight::python
