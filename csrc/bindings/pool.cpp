// Pooling as torch has it; max_poolNd_with_indices and adaptive_max_poolNd return indices too.
#include "ops/pool.h"

#include "bindings/forms.h"
#include "bindings/module.h"
#include "bindings/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using MaybeShape = std::optional<Shape>;
using Pair = std::tuple<Tensor, Tensor>;

PoolOptions max_options(Shape kernel, const MaybeShape& stride, Shape padding, Shape dilation,
                        bool ceil_mode) {
  return {kernel, stride.value_or(Shape()), padding, dilation, ceil_mode, true, {}};
}

template <int Rank>
Tensor max(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, Shape dilation,
           bool ceil_mode) {
  return max_pool(Rank == 1 ? "max_pool1d" : "max_pool2d", Rank, input,
                  max_options(kernel, stride, padding, dilation, ceil_mode));
}
template <int Rank>
Pair max_indices(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding,
                 Shape dilation, bool ceil_mode) {
  return max_pool_with_indices(Rank == 1 ? "max_pool1d" : "max_pool2d", Rank, input,
                               max_options(kernel, stride, padding, dilation, ceil_mode));
}
Tensor avg1(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, bool ceil_mode,
            bool count_include_pad) {
  return avg_pool(
      "avg_pool1d", 1, input,
      {kernel, stride.value_or(Shape()), padding, {1}, ceil_mode, count_include_pad, {}});
}
Tensor avg2(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, bool ceil_mode,
            bool count_include_pad, std::optional<std::int64_t> divisor) {
  return avg_pool(
      "avg_pool2d", 2, input,
      {kernel, stride.value_or(Shape()), padding, {1}, ceil_mode, count_include_pad, divisor});
}
template <int Rank>
Tensor adaptive_avg(const Tensor& input, Shape size) {
  return adaptive_avg_pool(Rank == 1 ? "adaptive_avg_pool1d" : "adaptive_avg_pool2d", Rank, input,
                           size);
}
template <int Rank>
Pair adaptive_max(const Tensor& input, Shape size) {
  return adaptive_max_pool(Rank == 1 ? "adaptive_max_pool1d" : "adaptive_max_pool2d", Rank, input,
                           size);
}

}  // namespace

void bind_pool(py::module_& m) {
  constexpr std::string_view arguments =
      "(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)";
  const auto with = [&](const char* name) { return name + std::string(arguments); };
  op<&max<1>>(m, with("max_pool1d"), As::function,
              "The maximum of each window of the last dimension; a NaN wins.\n\n>>> "
              "torch.max_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)\ntensor([[3., 4.]])");
  op<&max<2>>(m, with("max_pool2d"), As::function,
              "The maximum of each window of the last two dimensions; a NaN wins.\n\nArgs:\n    "
              "stride: steps between windows; the kernel's size when left out.\n    ceil_mode: "
              "keep a last window that reaches over the edge.\n\n>>> "
              "torch.max_pool2d(torch.tensor([[[1., 3.], [2., 4.]]]), 2)\ntensor([[[4.]]])");
  op<&max_indices<1>>(m, with("max_pool1d_with_indices"), As::function,
                      "max_pool1d and where each maximum was.\n\n>>> "
                      "torch.max_pool1d_with_indices(torch.tensor([[1., 3.]]), "
                      "2)\n(tensor([[3.]]), tensor([[1]]))");
  op<&max_indices<2>>(m, with("max_pool2d_with_indices"), As::function,
                      R"(max_pool2d and where each maximum was: positions in a plane.

    >>> torch.nn.functional.max_pool2d_with_indices(torch.tensor([[[1., 3.], [2., 4.]]]), 2)
    (tensor([[[4.]]]), tensor([[[3]]]))
)");
  op<&avg1>(m,
            "avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, "
            "count_include_pad=True)",
            As::function,
            "The mean of each window of the last dimension.\n\n>>> "
            "torch.nn.functional.avg_pool1d(torch.tensor([[1., 3., 2., 4.]]), "
            "2)\ntensor([[2., 3.]])");
  op_with_out<&avg2>(
      m,
      "avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, "
      "count_include_pad=True, divisor_override=None, *, out=None)",
      As::function,
      "The mean of each window of the last two dimensions.\n\nArgs:\n    "
      "count_include_pad: whether zeros of the padding count.\n    divisor_override: "
      "divide by this instead.\n\n>>> torch.nn.functional.avg_pool2d(torch.tensor([[[1., "
      "3.], [2., 4.]]]), 2)\ntensor([[[2.5000]]])");
  op<&adaptive_avg<1>>(m, "adaptive_avg_pool1d(input, output_size)", As::function,
                       R"(Means of windows chosen so that the result has the size wanted.

Shape: input (c, l) or (n, c, l); result (c, output_size) or (n, c, output_size).

    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)
    tensor([[2., 3.]])
)");
  op<&adaptive_avg<2>>(m, "adaptive_avg_pool2d(input, output_size)", As::function,
                       R"(Means of windows chosen so that the result has the size wanted.

Args:
    output_size: (height, width), one number for both; None keeps the input's.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.tensor([[[1., 3.], [2., 4.]]]), (1, 2))
    tensor([[[1.5000, 3.5000]]])
)");
  op<&adaptive_max<1>>(
      m, "adaptive_max_pool1d(input, output_size)", As::function,
      R"(Maxima of windows chosen so that the result has the size wanted, and where they were.

    >>> torch.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)
    (tensor([[3., 4.]]), tensor([[1, 3]]))
)");
  op<&adaptive_max<2>>(
      m, "adaptive_max_pool2d(input, output_size)", As::function,
      R"(Maxima of windows chosen so that the result has the size wanted, and where they were.

    >>> torch.nn.functional.adaptive_max_pool2d(torch.tensor([[[1., 3.], [2., 4.]]]), 1)
    tensor([[[4.]]])
)");
}

}  // namespace rushlight::python
