// Splitting: see csrc/ops/split.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/join.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Parts = std::vector<Tensor>;

Parts split_list(const Tensor& tensor, Indices sizes, std::int64_t dim) {
  return split_sizes(tensor, sizes, dim);
}
// split() has other names for its arguments as a method: a function needs an entry of its own.
Parts split_method(const Tensor& input, std::int64_t size, std::int64_t dim) {
  return split(input, size, dim);
}
Parts split_list_method(const Tensor& input, Indices sizes, std::int64_t dim) {
  return split_sizes(input, sizes, dim);
}
Parts unsafe_split_list(const Tensor& input, Indices sizes, std::int64_t dim) {
  return unsafe_split_sizes(input, sizes, dim);
}
Parts split_by_tensor(const Tensor& input, const Tensor& indices_or_sections, std::int64_t dim) {
  return tensor_split(input, indices_or_sections, dim);
}
Parts split_sections(const Tensor& input, std::int64_t sections, std::int64_t dim) {
  return tensor_split(input, sections, dim);
}
Parts split_at(const Tensor& input, Indices indices, std::int64_t dim) {
  return tensor_split(input, indices, dim);
}
// As a method they take indices one by one, too.
template <SplitAxis axis, As>
Parts axis_sections(const Tensor& input, std::int64_t sections) {
  return split_axis(input, sections, axis);
}
template <SplitAxis axis, As>
Parts axis_at(const Tensor& input, Indices indices) {
  return split_axis(input, indices, axis);
}
template <SplitAxis axis>
void bind_axis(py::module_& m, const std::string& name, std::string_view doc,
               const std::string& example) {
  constexpr As as = As::function, method = As::method;
  overloads<&axis_sections<axis, as>, &axis_at<axis, as>>(
      m, {name + "(input, sections)", name + "(input, indices)"}, stored(as), doc);
  overloads<&axis_sections<axis, method>, &axis_at<axis, method>>(
      m, {name + "(input, sections)", name + "(input, *indices)"}, stored(method),
      "torch." + name + R"(() as a method.

Args:
    sections: how many parts of one size.
    indices: the first index of each part but the first one, one by one or in a tuple.

Shape:
    each part has the shape of input but in the dimension that is split.

Returns:
    a tuple of views.

)" + example);
}

}  // namespace

void bind_split(py::module_& m) {
  constexpr auto kSplit = R"(Splits a dimension into views of one size, or of given sizes.

Args:
    tensor: the input tensor.
    split_size_or_sections: the size of each part (the last may be smaller), or a list of all sizes.

Shape:
    each part has the shape of the tensor but in dim.

Returns:
    a tuple of views.

>>> torch.split(torch.arange(5), 2)
(tensor([0, 1]), tensor([2, 3]), tensor([4]))
>>> torch.split(torch.arange(5), [1, 4])
(tensor([0]), tensor([1, 2, 3, 4])))";
  overloads<&split, &split_list>(m,
                                 {"split(tensor, split_size_or_sections, dim=0)",
                                  "split(tensor, split_size_or_sections, dim=0)"},
                                 stored(As::function), kSplit);
  overloads<&split_method, &split_list_method>(
      m, {"split(input, split_size, dim=0)", "split(input, split_size, dim=0)"},
      stored({.as = As::method, .copy = true}),
      R"(torch.split() as a method.

Args:
    split_size: the size of each part (the last may be smaller), or a list of all sizes.

Shape:
    each part has the shape of the tensor but in dim.

>>> torch.arange(3).split(2)
(tensor([0, 1]), tensor([2])))");
  op<&split_list, 2>(m, "split_with_sizes(input, split_sizes, dim=0)", stored({.copy = true}),
                     R"(Splits a dimension into views of given sizes.

Args:
    split_sizes: the size of each part; their sum is the size of dim.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of views.

>>> torch.split_with_sizes(torch.arange(5), [2, 3])
(tensor([0, 1]), tensor([2, 3, 4])))");
  op<&chunk>(m, "chunk(input, chunks, dim=0)", stored(As::both),
             R"(Splits a dimension into at most `chunks` views of one size; the last may be smaller.

Args:
    chunks: how many parts at most.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of views.

>>> torch.arange(5).chunk(2)
(tensor([0, 1, 2]), tensor([3, 4])))");
  op<&unsafe_split>(
      m, "unsafe_split(input, split_size, dim=0)", stored(As::both),
      R"(split() into parts that may be written to: autograd does not see them as views.

Args:
    split_size: the size of each part; the last may be smaller.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of tensors.

>>> torch.unsafe_split(torch.arange(4), 2)
(tensor([0, 1]), tensor([2, 3])))");
  op<&unsafe_split_list>(m, "unsafe_split_with_sizes(input, split_sizes, dim=0)", As::both,
                         R"(split_with_sizes() into parts that autograd does not see as views.

Args:
    split_sizes: the size of each part; their sum is the size of dim.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of tensors.

>>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
(tensor([0]), tensor([1, 2])))");
  op<&unsafe_chunk>(
      m, "unsafe_chunk(input, chunks, dim=0)", stored(As::both),
      R"(chunk() into parts that may be written to: autograd does not see them as views.

Args:
    chunks: how many parts at most.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of tensors.

>>> torch.unsafe_chunk(torch.arange(4), 2)
(tensor([0, 1]), tensor([2, 3])))");
  op<&unbind>(m, "unbind(input, dim=0)", stored({.copy = true}),
              R"(The slices of a dimension as a tuple of views, without that dimension.

Shape:
    each is that of input without dim.

>>> torch.arange(2).unbind()
(tensor(0), tensor(1)))");
  overloads<&split_by_tensor, &split_sections, &split_at>(
      m,
      {"tensor_split(input, tensor_indices_or_sections, dim=0)",
       "tensor_split(input, sections, dim=0)", "tensor_split(input, indices, dim=0)"},
      stored(As::both),
      R"(Views of parts of a dimension: a number of parts, or split before each index.

Args:
    sections: how many parts; the first ones have an element more where it does not divide.
    tensor_indices_or_sections: either of them as a tensor on the CPU.
    indices: the first index of each part but the first one.

Shape:
    each part has the shape of input but in dim.

Returns:
    a tuple of views.

>>> torch.tensor_split(torch.arange(5), 2)
(tensor([0, 1, 2]), tensor([3, 4]))
>>> torch.tensor_split(torch.arange(5), (1, 3))
(tensor([0]), tensor([1, 2]), tensor([3, 4])))");
  bind_axis<SplitAxis::horizontal>(
      m, "hsplit", R"(tensor_split() along the second dimension; of a vector along its only one.

Args:
    input: at least a vector.
    sections: how many parts of one size.
    indices: the first index of each part but the first one.

Shape:
    each part has the shape of input but in the dimension that is split.

Returns:
    a tuple of views.

    >>> torch.hsplit(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
)",
      R"(>>> torch.arange(4).hsplit(1, 3)
(tensor([0]), tensor([1, 2]), tensor([3])))");
  bind_axis<SplitAxis::vertical>(m, "vsplit", R"(tensor_split() along the first dimension.

Args:
    input: at least a matrix.
    sections: how many parts of one size.
    indices: the first index of each part but the first one.

Shape:
    each part has the shape of input but in dimension 0.

Returns:
    a tuple of views.

    >>> torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
)",
                                 R"(>>> torch.tensor([[1, 2], [3, 4]]).vsplit(2)
(tensor([[1, 2]]), tensor([[3, 4]])))");
  bind_axis<SplitAxis::depth>(m, "dsplit", R"(tensor_split() along the third dimension.

Args:
    input: at least three dimensions.
    sections: how many parts of one size.
    indices: the first index of each part but the first one.

Shape:
    each part has the shape of input but in dimension 2.

Returns:
    a tuple of views.

    >>> [t.shape for t in torch.dsplit(torch.zeros(1, 1, 4), 2)]
    [torch.Size([1, 1, 2]), torch.Size([1, 1, 2])]
)",
                              R"(>>> [t.shape for t in torch.zeros(1, 1, 4).dsplit(2)]
[torch.Size([1, 1, 2]), torch.Size([1, 1, 2])])");
}

}  // namespace rushlight::python
