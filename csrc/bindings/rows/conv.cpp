// Convolutions as torch.nn.functional has them; padding may be a word.
#include "ops/conv/conv.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Bias = std::optional<Tensor>;

constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};
constexpr const char* kTransposed[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

template <int Rank>
Tensor conv(const Tensor& input, const Tensor& weight, Bias bias, Shape stride, Shape padding,
            Shape dilation, std::int64_t groups) {
  return convolution(kNames[Rank - 1], Rank, input, weight, bias,
                     {stride, padding, dilation, {}, groups});
}
template <int Rank>
Tensor conv_by_word(const Tensor& input, const Tensor& weight, Bias bias, Shape stride,
                    std::string_view padding, Shape dilation, std::int64_t groups) {
  return convolution(kNames[Rank - 1], Rank, input, weight, bias,
                     {stride, {}, dilation, {}, groups}, padding);
}
template <int Rank>
Tensor conv_transpose(const Tensor& input, const Tensor& weight, Bias bias, Shape stride,
                      Shape padding, Shape output_padding, std::int64_t groups, Shape dilation) {
  return convolution_transpose(kTransposed[Rank - 1], Rank, input, weight, bias,
                               {stride, padding, dilation, output_padding, groups});
}

Tensor of_any_rank(const Tensor& input, const Tensor& weight, Bias bias, Shape stride,
                   Shape padding, Shape dilation, bool transposed, Shape output_padding,
                   std::int64_t groups) {
  const int rank = weight.dim() - 2;
  if (rank < 1 || rank > 3)
    fail<RuntimeError>(
        "weight should have at least three dimensions\nconvolution(): and at most "
        "five; ",
        describe("weight", weight));
  if (input.dim() != weight.dim())
    fail<RuntimeError>("Expected ", weight.dim(), "-dimensional input for ", weight.dim(),
                       "-dimensional weight ", weight.shape(), ", but got ", input.dim(),
                       "-dimensional input of size ", input.shape(), " instead");
  if (transposed)
    return convolution_transpose(kTransposed[rank - 1], rank, input, weight, bias,
                                 {stride, padding, dilation, output_padding, groups});
  return convolution(kNames[rank - 1], rank, input, weight, bias,
                     {stride, padding, dilation, {}, groups});
}

template <int Rank>
void bind_rank(py::module_& m, const std::string& doc, const std::string& transpose_doc) {
  const std::string name = kNames[Rank - 1];
  const std::string number =
      name + "(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)";
  const std::string word =
      name + "(input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1)";
  overloads<&conv<Rank>, &conv_by_word<Rank>>(
      m, {number, word}, with_complex({.as = As::function | As::functional, .autocast = kLower}),
      doc);
  op<&conv_transpose<Rank>>(
      m,
      kTransposed[Rank - 1] + std::string("(input, weight, bias=None, stride=1, padding=0, "
                                          "output_padding=0, groups=1, dilation=1)"),
      with_complex({.as = As::function | As::functional, .autocast = kLower}), transpose_doc);
}

std::string doc_of(const char* sizes, const char* example) {
  return text(R"(The cross-correlation of an input with several channels and a kernel.

Args:
    weight: the kernels.
    stride: the step between windows.
    padding: the zeros at both sides; or 'same', which keeps the sizes (stride 1), or 'valid', none.
    dilation: the step between the elements of a window.
    groups: how many independent groups the channels are divided into.

Shape:
    input (n, c, )",
              sizes, R"(), weight (out, c / groups, kernel...), bias (out) give
    (n, out, ...); each size becomes (size + 2 * padding - dilation * (kernel - 1) - 1) /
    stride + 1.

Raises:
    RuntimeError: if channels, dtypes or devices do not fit.

)",
              example);
}
std::string transpose_doc_of(const char* sizes, const char* example) {
  return text(R"(The transposed convolution: the gradient of a convolution for its input.

Args:
    weight: the kernels.
    stride: the step between windows of the result.
    padding: what is cut at both sides of the result.
    output_padding: what is added to one side of the result.
    groups: how many independent groups the channels are divided into.
    dilation: the step between the elements of a window.

Shape:
    input (n, c, )",
              sizes, R"(), weight (c, out / groups, kernel...), bias (out) give
    (n, out, ...); each size becomes (size - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1.

)",
              example);
}

}  // namespace

void bind_conv(py::module_& m) {
  op<&of_any_rank>(m,
                   "convolution(input, weight, bias, stride, padding, dilation, transposed, "
                   "output_padding, groups)",
                   with_complex({.as = As::function, .autocast = kLower}),
                   R"(conv1d() to conv3d() or conv_transpose1d() to conv_transpose3d(), by the
weight's rank.

Args:
    weight: of 3 dimensions for signals, 4 for images, 5 for volumes.
    bias: one for each output channel, or None.
    stride, padding, dilation: as theirs, a list of ints each.
    transposed: whether it is conv_transpose1d() and its relatives.
    output_padding: as theirs; without transposed it changes nothing.
    groups: how many independent groups the channels are divided into.

>>> torch.convolution(torch.ones(1, 1, 4), torch.ones(1, 1, 3), None, [1], [0], [1], False, [0], 1)
tensor([[[3., 3.]]]))");
  bind_rank<1>(m,
               doc_of("length",
                      ">>> torch.nn.functional.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 3))\n"
                      "tensor([[[3., 3.]]])"),
               transpose_doc_of(
                   "length",
                   ">>> torch.nn.functional.conv_transpose1d(torch.ones(1, 1, 2), torch.ones(1, "
                   "1, 2))\ntensor([[[1., 2., 1.]]])"));
  bind_rank<2>(m,
               doc_of("height, width",
                      ">>> torch.nn.functional.conv2d(torch.ones(1, 2, 3, 3), torch.ones(1, 2, 3, "
                      "3))\ntensor([[[[18.]]]])"),
               transpose_doc_of("height, width",
                                ">>> torch.nn.functional.conv_transpose2d(torch.ones(1, 1, 1, 1), "
                                "torch.ones(1, 1, 1, 2))\ntensor([[[[1., 1.]]]])"));
  bind_rank<3>(
      m,
      doc_of("depth, height, width",
             ">>> torch.nn.functional.conv3d(torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, "
             "2, 2, 2))\ntensor([[[[[8.]]]]])"),
      transpose_doc_of("depth, height, width",
                       ">>> torch.nn.functional.conv_transpose3d(torch.ones(1, 1, 1, 1, 1), "
                       "torch.ones(1, 1, 1, 1, 2))\ntensor([[[[[1., 1.]]]]])"));
}

}  // namespace rushlight::python
