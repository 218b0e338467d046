// torch.nn.functional's own signatures, where they differ from those of torch's functions of the
// same name: entries of their own, so that the op is called
// without a Python function around it.
#include "functional.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/norm/norm.h"
#include "ops/random/random.h"
#include "ops/softmax.h"

namespace py = pybind11;

namespace rushlight::python {

void warn_at(const std::string& text, std::int64_t frames) {
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), Py_ssize_t(frames)))
    throw py::error_already_set();
}

namespace {

using Maybe = std::optional<Tensor>;
using Dim = std::optional<std::int64_t>;
using Dt = std::optional<DType>;

// torch's _stacklevel is 3 for a call by hand and 5 in a module's forward; here no frame of ours
// lies between.
std::int64_t given_dim(const char* name, const Tensor& input, Dim dim, std::int64_t stacklevel) {
  if (dim) [[likely]]
    return *dim;
  warn_at(text("Implicit dimension choice for ", name,
               " has been deprecated. Change the call to include dim=X as an argument."),
          stacklevel / 2);
  return input.dim() == 0 || input.dim() == 1 || input.dim() == 3 ? 0 : 1;
}
Tensor softmax_of(const Tensor& input, Dim dim, std::int64_t stacklevel, Dt dtype) {
  return softmax(input, given_dim("softmax", input, dim, stacklevel), dtype);
}
Tensor softmin_of(const Tensor& input, Dim dim, std::int64_t stacklevel, Dt dtype) {
  return softmax(neg(input), given_dim("softmin", input, dim, stacklevel), dtype);
}
Tensor log_softmax_of(const Tensor& input, Dim dim, std::int64_t stacklevel, Dt dtype) {
  return log_softmax(input, given_dim("log_softmax", input, dim, stacklevel), dtype);
}

Tensor functional_rrelu(const Tensor& input, double lower, double upper, bool training,
                        Truth inplace) {
  return rrelu(input, lower, upper, training, inplace, {});
}

// A statistic of one number says nothing.
std::int64_t others(const Tensor& input, std::int64_t first) {
  std::int64_t count = first;
  for (int d = 2; d < input.dim(); ++d) count = checked_mul(count, input->shape[d]);
  return count;
}
Tensor batch_of(const Tensor& input, Maybe running_mean, Maybe running_var, Maybe weight,
                Maybe bias, bool training, double momentum, double eps) {
  if (training) {
    if (others(input, input.size(0)) == 1)
      fail<ValueError>("Expected more than 1 value per channel when training, got input size ",
                       "torch.Size(", input.sizes(), ")");
    if (eps <= 0)
      fail<ValueError>("batch_norm eps must be positive during training, but got ", eps);
  }
  return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
Tensor group_of(const Tensor& input, std::int64_t num_groups, Maybe weight, Maybe bias,
                double eps) {
  if (input.dim() > 1 && num_groups > 0 && input->shape[1] % num_groups == 0 &&
      others(input, checked_mul(input->shape[0], input->shape[1] / num_groups)) == 1)
    fail<ValueError>("Expected more than 1 value per channel when training, got input size ",
                     input.sizes());
  return group_norm(input, num_groups, weight, bias, eps);
}
Tensor instance_of(const Tensor& input, Maybe running_mean, Maybe running_var, Maybe weight,
                   Maybe bias, bool use_input_stats, double momentum, double eps) {
  if (use_input_stats && others(input, 1) == 1)
    fail<ValueError>("Expected more than 1 spatial element when training, got input size ",
                     "torch.Size(", input.sizes(), ")");
  return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum,
                       eps);
}
Tensor layer_of(const Tensor& input, Listed normalized_shape, Maybe weight, Maybe bias,
                double eps) {
  return layer_norm(input, normalized_shape, weight, bias, eps);
}

void bind_norms(py::module_& m) {
  op<&batch_of>(m,
                "batch_norm(input, running_mean, running_var, weight=None, bias=None, "
                "training=False, momentum=0.1, eps=1e-05)",
                As::functional,
                R"((x - mean) / sqrt(var + eps) * weight + bias, over all dimensions but the second.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    running_mean, running_var: statistics used in evaluation, and updated in training.
    momentum: the share of the new statistics in the running ones.

Shape:
    input (n, c, *), all others (c).

>>> torch.nn.functional.batch_norm(torch.ones(2, 1), torch.zeros(1), torch.ones(1)).round()
tensor([[1.],
        [1.]]))");
  op<&group_of>(
      m, "group_norm(input, num_groups, weight=None, bias=None, eps=1e-05)",
      {.as = As::functional, .autocast = kFullOnCuda},
      R"((x - mean) / sqrt(var + eps) * weight + bias, over each group of channels of each example.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    num_groups: how many groups the channels are divided into.

Shape:
    input (n, c, *), weight and bias (c); num_groups divides c.

>>> torch.nn.functional.group_norm(torch.ones(1, 2, 2), 1)
tensor([[[0., 0.],
         [0., 0.]]]))");
  op<&instance_of>(
      m,
      "instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, "
      "use_input_stats=True, momentum=0.1, eps=1e-05)",
      As::functional,
      R"((x - mean) / sqrt(var + eps) * weight + bias, over each channel of each instance.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    running_mean, running_var: statistics updated if they are given, and used where
        use_input_stats is False.
    momentum: the share of the new statistics in the running ones.
    use_input_stats: whether input's own statistics are used.

Shape:
    input (n, c, *), all others (c).

>>> torch.nn.functional.instance_norm(torch.ones(1, 1, 2))
tensor([[[0., 0.]]]))");
  op<&layer_of>(m, "layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)",
                {.as = As::functional, .autocast = kFullOnCuda},
                R"((x - mean) / sqrt(var + eps) * weight + bias, over the last dimensions.

Args:
    weight: the factors; None for 1.
    bias: the terms; None for 0.
    eps: what is added to the variance.
    normalized_shape: the sizes of the last dimensions, over which the statistics are taken.

Shape:
    input (*, normalized_shape); weight and bias have shape normalized_shape.

>>> torch.nn.functional.layer_norm(torch.ones(1, 2), (2,))
tensor([[0., 0.]]))");
  op<&local_response_norm>(m, "local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0)",
                           As::functional,
                           R"(x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta.

Args:
    size: how many neighbouring channels.
    alpha: the factor of the mean.
    beta: the exponent.
    k: the term.

Shape:
    input (n, c, *) with at least three dimensions.

>>> torch.nn.functional.local_response_norm(torch.zeros(1, 1, 2), 2)
tensor([[[0., 0.]]]))");
}

template <auto Fresh, auto InPlace>
Tensor dropped(const Tensor& input, double p, bool training, Truth inplace) {
  if (!(p >= 0 && p <= 1))
    fail<ValueError>("dropout probability has to be between 0 and 1, but got ", p);
  return inplace ? InPlace(input, p, training) : Fresh(input, p, training);
}

void bind_dropouts(py::module_& m) {
  op<&dropped<&dropout, &dropout_>>(
      m, "dropout(input, p=0.5, training=True, inplace=False)", with_complex(As::functional),
      R"(Sets elements to 0 with probability p and multiplies the others by 1 / (1 - p).

Args:
    p: the probability that an element is dropped.

Shape:
    that of input.

>>> torch.nn.functional.dropout(torch.ones(2), 0.5, training=False)
tensor([1., 1.]))");
  op<&dropped<&alpha_dropout, &alpha_dropout_>>(
      m, "alpha_dropout(input, p=0.5, training=False, inplace=False)", with_complex(As::functional),
      R"(Dropout that keeps mean 0 and variance 1 behind a SELU (Klambauer et al., 2017).

Args:
    p: the probability that an element is dropped.

Shape:
    that of input.

>>> torch.nn.functional.alpha_dropout(torch.ones(2), 0.5)
tensor([1., 1.]))");
  op<&dropped<&feature_alpha_dropout, &feature_alpha_dropout_>>(
      m, "feature_alpha_dropout(input, p=0.5, training=False, inplace=False)",
      with_complex(As::functional),
      R"(alpha_dropout of whole channels.

Args:
    p: the probability that a channel is dropped.

Shape:
    input (n, c, *) gives the same.

>>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 2), 0.5)
tensor([[1., 1.]]))");
  op<&functional_rrelu>(
      m, "rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False)",
      As::functional,
      R"(leaky_relu with a slope of U(lower, upper) for each element; without training, their mean.

Args:
    lower: the lower bound of the slopes.
    upper: the upper bound of the slopes.
    training: whether slopes are drawn.

Shape:
    that of input.

>>> torch.nn.functional.rrelu(torch.tensor([-1.0]), 0.5, 0.5)
tensor([-0.5000]))");
}

}  // namespace

void bind_functional(py::module_& m) {
  bind_attention(m);
  bind_pool_functional(m);
  bind_fold(m);
  bind_fold_functional(m);
  bind_resample(m);
  bind_norms(m);
  bind_losses(m);
  bind_dropouts(m);
  op<&softmax_of>(m, "softmax(input, dim=None, _stacklevel=3, dtype=None)",
                  with_complex({.as = As::functional, .autocast = kFullOnCuda}),
                  R"(exp(x) / sum(exp(x)) along `dim`.

Args:
    dtype: the dtype that input is converted to first; None for its own.
    dim: the dimension; None is deprecated and chooses one by input.dim().

Shape:
    that of input.

>>> torch.nn.functional.softmax(torch.zeros(2, 2), dim=1)
tensor([[0.5000, 0.5000],
        [0.5000, 0.5000]]))");
  op<&softmin_of>(m, "softmin(input, dim=None, _stacklevel=3, dtype=None)",
                  with_complex({.as = As::functional, .autocast = kFullOnCuda}),
                  R"(softmax(-x) along `dim`.

Args:
    dtype: the dtype that input is converted to first; None for its own.
    dim: the dimension; None is deprecated and chooses one by input.dim().

Shape:
    that of input.

>>> torch.nn.functional.softmin(torch.zeros(2), dim=0)
tensor([0.5000, 0.5000]))");
  op<&log_softmax_of>(m, "log_softmax(input, dim=None, _stacklevel=3, dtype=None)",
                      with_complex({.as = As::functional, .autocast = kFullOnCuda}),
                      R"(log(softmax(x)) along `dim`, computed without overflow.

Args:
    dtype: the dtype that input is converted to first; None for its own.
    dim: the dimension; None is deprecated and chooses one by input.dim().

Shape:
    that of input.

>>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
tensor([-0.6931, -0.6931]))");
}

}  // namespace rushlight::python
