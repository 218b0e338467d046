// Normalisations under the signatures of torch's functions; those of torch.nn.functional are in
// functional.cpp.
#include "ops/norm/norm.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Maybe = std::optional<Tensor>;

Tensor batch(const Tensor& input, Maybe weight, Maybe bias, Maybe running_mean, Maybe running_var,
             bool training, double momentum, double eps, bool) {
  return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
Tensor group(const Tensor& input, std::int64_t num_groups, Maybe weight, Maybe bias, double eps,
             bool) {
  return group_norm(input, num_groups, weight, bias, eps);
}
Tensor layer(const Tensor& input, Listed normalized_shape, Maybe weight, Maybe bias, double eps,
             bool) {
  return layer_norm(input, normalized_shape, weight, bias, eps);
}

Tensor rms(const Tensor& input, Listed normalized_shape, Maybe weight, std::optional<double> eps) {
  return rms_norm(input, normalized_shape, weight, eps);
}

}  // namespace

void bind_norm(py::module_& m) {
  op<&batch>(m,
             "batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, "
             "cudnn_enabled)",
             As::function,
             R"((x - mean) / sqrt(var + eps) * weight + bias, for each channel.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    running_mean, running_var: statistics used in evaluation, and updated in training.
    training: whether input's own statistics are used.
    momentum: the share of the new statistics in the running ones.

Shape:
    input (n, c, *), all others (c).

Raises:
    RuntimeError: if a parameter does not have c elements.

>>> torch.batch_norm(torch.tensor([[1.], [3.]]), None, None, None, None, True, 0.1, 0.0, True)
tensor([[-1.],
        [ 1.]]))");
  op<&group>(
      m,
      "group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, "
      "cudnn_enabled=True)",
      {.as = As::function, .autocast = kFullOnCuda},
      R"((x - mean) / sqrt(var + eps) * weight + bias, over each group of channels of each example.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    num_groups: how many groups the channels are divided into.

Shape:
    input (n, c, *), weight and bias (c); num_groups divides c.

Raises:
    RuntimeError: if num_groups does not divide c.

>>> torch.group_norm(torch.tensor([[1., 3., 10., 30.]]), 2, eps=0.0)
tensor([[-1.,  1., -1.,  1.]]))");
  op<&layer>(m,
             "layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, "
             "cudnn_enable=True)",
             {.as = As::function, .autocast = kFullOnCuda},
             R"((x - mean) / sqrt(var + eps) * weight + bias, over the last dimensions.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    normalized_shape: the sizes of the last dimensions, over which the statistics are taken.

Shape:
    input (*, normalized_shape); weight and bias have shape normalized_shape.

>>> torch.layer_norm(torch.tensor([1., 3.]), (2,), None, None, 0.0)
tensor([-1.,  1.]))");
  op<&rms>(m, "rms_norm(input, normalized_shape, weight=None, eps=None)",
           with_complex({.as = As::function | As::functional, .autocast = kFullOnCuda}),
           R"(x / sqrt(mean(x^2) + eps) * weight.

Args:
    weight: the factors; None for 1.
    normalized_shape: the sizes of the last dimensions, over which the mean is taken.
    eps: what is added to the mean of the squares; None for the dtype's machine epsilon.

Shape:
    input (*, normalized_shape), weight normalized_shape.

>>> torch.rms_norm(torch.tensor([[3.0, 3.0]]), (2,))
tensor([[1., 1.]]))");
}

}  // namespace rushlight::python
