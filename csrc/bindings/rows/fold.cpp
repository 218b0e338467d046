// unfold, fold and the shuffles of torch.nn.functional; torch has the shuffles too.
#include "ops/fold.h"

#include "bindings/table/signature.h"
#include "functional.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor unfold_of(const Tensor& input, Shape kernel, Shape dilation, Shape padding, Shape stride) {
  return im2col(input, {kernel, dilation, padding, stride});
}
Tensor fold_of(const Tensor& input, Shape size, Shape kernel, Shape dilation, Shape padding,
               Shape stride) {
  return col2im(input, size, {kernel, dilation, padding, stride});
}

}  // namespace

void bind_fold_functional(py::module_& m) {
  op<&unfold_of>(
      m, "unfold(input, kernel_size, dilation=1, padding=0, stride=1)", by_parts(As::functional),
      R"(A view of all windows along a dimension; their elements are a new last dimension.

Args:
    dilation: steps between the elements of a window.
    padding: zeros added at each side.
    stride: steps between windows.
    kernel_size: the size of a window, one number or (height, width).

Shape:
    that of input with (n - size) / step + 1 in dimension, and size at the end.

>>> torch.nn.functional.unfold(torch.ones(1, 3, 3, 3), 2).shape
torch.Size([1, 12, 4]))");
  op<&fold_of>(m, "fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1)",
               by_parts(As::functional),
               R"(Adds every column back into its window: the gradient of unfold.

Args:
    output_size: the (height, width) of the result.
    kernel_size: the size of a window, one number or (height, width).
    dilation: the step between the elements of a window.
    padding: the zeros added at each side.
    stride: the step between windows.

Shape:
    input (n, c * kernel elements, windows), result (n, c, h, w); or without n.

>>> torch.nn.functional.fold(torch.ones(1, 4, 4), (3, 3), 2).sum()
tensor(16.))");
}

void bind_fold(py::module_& m) {
  op<&pixel_shuffle>(
      m, "pixel_shuffle(input, upscale_factor)", by_parts(As::function | As::functional),
      R"(Rearranges channels into height and width (Shi et al., 2016), by the factor r.

Args:
    upscale_factor: the factor r.

Shape:
    input (*, c r^2, h, w) gives (*, c, h r, w r).

>>> torch.pixel_shuffle(torch.ones(1, 4, 2, 2), 2).shape
torch.Size([1, 1, 4, 4]))");
  op<&pixel_unshuffle>(
      m, "pixel_unshuffle(input, downscale_factor)", by_parts(As::function | As::functional),
      R"(Rearranges height and width into channels: the inverse of pixel_shuffle(), by the factor r.

Args:
    downscale_factor: the factor r.

Shape:
    input (*, c, h r, w r) gives (*, c r^2, h, w).

>>> torch.pixel_unshuffle(torch.ones(1, 1, 4, 4), 2).shape
torch.Size([1, 4, 2, 2]))");
  op<&channel_shuffle>(m, "channel_shuffle(input, groups)", by_parts(As::function | As::functional),
                       R"(Channel i of group j becomes channel j of group i (Zhang et al., 2018).

Args:
    groups: how many groups the channels are in.

Shape:
    input (n, c, *) gives the same.

>>> torch.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten()
tensor([0., 2., 1., 3.]))");
}

}  // namespace rushlight::python
