// Reading and writing by indices, as functions and methods; x[...] itself is in indexing.cpp.
#include "ops/index/index.h"

#include "bindings/module.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor index_put_values(const Tensor& input, const std::vector<Tensor>& indices,
                        const Tensor& values, bool accumulate) {
  return index_put(input, indices, values, accumulate);
}
Tensor index_put_in_place(const Tensor& self, const std::vector<Tensor>& indices,
                          const Tensor& values, bool accumulate) {
  index_put_(self, indices, values, accumulate);
  return self;
}
py::object nonzero_op(const Tensor& input, bool as_tuple, Out out) {
  if (out && as_tuple)
    fail<RuntimeError>("nonzero does not support the out kwarg when as_tuple is True");
  if (out && out->dtype() != DType::int64)
    fail<RuntimeError>("nonzero: Expected out tensor to have scalar type Long but got scalar type",
                       scalar_name(out->dtype()));
  return py::reinterpret_steal<py::object>(
      as_tuple ? to_python(nonzero_tuple(input))
               : to_python(deliver("nonzero", out, nonzero(input))));
}
// scatter_(reduce=), whose other forms write to self directly.
template <auto F, class Source>
Tensor scatter_reduced_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                                Source source, std::string_view reduce) {
  return written_to_self(self, F(self, dim, index, source, reduce), "scatter_");
}
Tensor gather_op(const Tensor& input, std::int64_t dim, const Tensor& index, bool sparse_grad) {
  return sparse_grad && needs_grad(input) ? sparse_gather(input, dim, index)
                                          : gather(input, dim, index);
}
Tensor scatter_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                        const Tensor& src) {
  scatter_(self, dim, index, src);
  return self;
}
Tensor scatter_value_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                              Scalar value) {
  scatter_(self, dim, index, source_of(value, self, index));
  return self;
}
Tensor scatter_add_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                            const Tensor& src) {
  scatter_add_(self, dim, index, src);
  return self;
}

Tensor index_fill_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                           const Tensor& value) {
  index_fill_(self, dim, index, value);
  return self;
}
Tensor index_fill_value_in_place(const Tensor& self, std::int64_t dim, const Tensor& index,
                                 Scalar value) {
  check_fits("index_fill_", "value", value, self.dtype());
  index_fill_(self, dim, index, scalar_tensor(value, self.dtype(), self.device()));
  return self;
}
Tensor index_fill_value(const Tensor& input, std::int64_t dim, const Tensor& index, Scalar value) {
  check_fits("index_fill", "value", value, input.dtype());
  return index_fill(input, dim, index, scalar_tensor(value, input.dtype(), input.device()));
}

}  // namespace

void bind_index(py::module_& m) {
  op<&index_select>(m, "index_select(input, dim, index, *, out=None)",
                    by_parts({.apart = true, .exact = true}),
                    R"(The slices of a dimension at the given indices, as a copy.

Args:
    index: a vector of int64 or int32 indices.

Shape:
    that of input with index's length in dim.

Raises:
    IndexError: for an index out of range.

>>> torch.index_select(torch.arange(4) * 10, 0, torch.tensor([2, 0]))
tensor([20,  0]))");
  op<&masked_select>(m, "masked_select(input, mask, *, out=None)",
                     by_parts({.as = As::both, .exact = true, .waits = true}),
                     R"(The elements where mask is True, in row-major order.

Args:
    mask: a bool tensor; it broadcasts with input.

Shape:
    the result is (n) for n elements.

>>> torch.arange(3).masked_select(torch.tensor([True, False, True]))
tensor([0, 2]))");
  op<&nonzero_op>(m, "nonzero(input, *, as_tuple=False, out=None)",
                  with_complex({.as = As::both, .waits = true}),
                  R"(The indices of all elements that are not 0, in row-major order.

Args:
    as_tuple: whether to return a tuple of vectors, one for each dimension.

Shape:
    the result is (n, input.dim()) for n such elements.

>>> torch.nonzero(torch.tensor([0, 5, 7]))
tensor([[1],
        [2]]))");
  op<&rushlight::nonzero>(m, "argwhere(input)", with_complex(As::both),
                          R"(The indices of all elements that are not 0, in row-major order.

Shape:
    the result is (n, input.dim()) for n such elements.

>>> torch.argwhere(torch.tensor([[0, 5], [7, 0]]))
tensor([[0, 1],
        [1, 0]]))");
  op<&index_put_values>(
      m, "index_put(input, indices, values, accumulate=False)", with_complex(As::both),
      R"(A copy of input with `values` written at the given indices: out[indices] = values.

Args:
    indices: a tuple of index tensors, int64 or bool, which broadcast with each other.
    values: what is written; it broadcasts to the shape of input[indices].
    accumulate: whether values are added; an index may then occur several times.

Shape:
    the result has the shape of input.

>>> torch.index_put(torch.zeros(3), (torch.tensor([0, 2]),), torch.tensor([1., 2.]))
tensor([1., 0., 2.]))");
  op<&index_put_in_place>(m, "index_put_(input, indices, values, accumulate=False)",
                          with_complex(As::both), R"(index_put() in place.)");
  op<&index_add>(m, "index_add(input, dim, index, source, *, alpha=1, out=None)",
                 by_parts({.in_place = As::method, .apart = true, .exact = true}),
                 R"(A copy of input with slices of source added at indices of a dimension.

Args:
    index: a vector of int64 or int32 indices; they may repeat.
    source: the slices; input's shape, but with index's length in dim.
    alpha: the factor of source.

Shape:
    the result has the shape of input.

>>> torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.ones(2))
tensor([2., 0., 0.]))");
  op<&gather_op>(m, "gather(input, dim, index, *, sparse_grad=False, out=None)",
                 by_parts({.apart = true, .exact = true}),
                 R"(out[i][j] = input[index[i][j]][j] for dim 0, and so on for other dimensions.

Args:
    input: the tensor that is read.
    dim: the dimension that index refers to.
    index: int64 indices, with as many dimensions as input.
    sparse_grad: whether the gradient of input is a sparse tensor, with an entry for each index.

Shape:
    the result has the shape of index.

Raises:
    RuntimeError: for an index out of range; nothing is read then.

>>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0], [1]]))
tensor([[1],
        [4]]))");
  overloads<&scatter, &scatter_value, &scatter_reduced, &scatter_value_reduced>(
      m,
      {"scatter(input, dim, index, src, *, out=None)",
       "scatter(input, dim, index, value, *, out=None)",
       "scatter(input, dim, index, src, *, reduce, out=None)",
       "scatter(input, dim, index, value, *, reduce, out=None)"},
      by_parts({.as = As::both, .exact = true}),
      R"(A copy of input with src, or a scalar, written at given indices of a dimension.

For dim 0, out[index[i][j]][j] = src[i][j].

Args:
    dim: the dimension that index refers to.
    index: int64 indices, with as many dimensions as input.
    src: the values; at least as large as index in each dimension.
    value: a scalar written at every index.
    reduce: 'add' or 'multiply', instead of overwriting.

Shape:
    the result has the shape of input.

Raises:
    RuntimeError: for an index out of range; nothing is written then.

>>> torch.zeros(3).scatter(0, torch.tensor([2, 0]), torch.tensor([5., 7.]))
tensor([7., 0., 5.]))");
  overloads<&scatter_in_place, &scatter_value_in_place,
            &scatter_reduced_in_place<&scatter_reduced, const Tensor&>,
            &scatter_reduced_in_place<&scatter_value_reduced, Scalar>>(
      m,
      {"scatter_(self, dim, index, src)", "scatter_(self, dim, index, value)",
       "scatter_(self, dim, index, src, *, reduce)",
       "scatter_(self, dim, index, value, *, reduce)"},
      by_parts(As::method), R"(scatter() in place.)");
  op<&scatter_add>(
      m, "scatter_add(input, dim, index, src, *, out=None)",
      by_parts({.as = As::both, .exact = true}),
      R"(A copy of input with src added at indices: out[index[i][j]][j] += src[i][j] for dim 0.

Args:
    dim: the dimension that index refers to.
    index: int64 indices, with as many dimensions as input; they may repeat.
    src: the values; at least as large as index in each dimension.

Shape:
    the result has the shape of input.

>>> torch.zeros(3).scatter_add(0, torch.tensor([2, 2]), torch.tensor([5., 7.]))
tensor([ 0.,  0., 12.]))");
  op<&scatter_add_in_place>(m, "scatter_add_(self, dim, index, src)", by_parts(As::method),
                            R"(scatter_add() in place.)");
  op<&take>(m, "take(input, index, *, out=None)", by_parts({.apart = true, .exact = true}),
            R"(The elements at indices of the flattened input.

Args:
    index: int64 indices; negative ones count from the end.

Shape:
    the result has the shape of index.

>>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([3, 0]))
tensor([4, 1]))");
  op<&take_along_dim>(m, "take_along_dim(input, indices, dim=None, *, out=None)",
                      by_parts({.as = As::both, .exact = true}),
                      R"(gather() with input and indices broadcast outside dim.

Args:
    indices: int64 indices.
    dim: the dimension that indices refers to; None for the flattened input.

Shape:
    the broadcast shape of input and indices, with indices' size in dim.

>>> x = torch.tensor([[3, 1], [2, 4]])
>>> torch.take_along_dim(x, x.argsort(1), 1)
tensor([[1, 3],
        [2, 4]]))");
  overloads<&index_fill, &index_fill_value>(
      m, {"index_fill(input, dim, index, value)", "index_fill(input, dim, index, value)"},
      by_parts(As::both),
      R"(A copy of input with all elements at indices of a dimension set to `value`.

Args:
    index: a vector of int64 indices.
    value: a scalar or a 0-d tensor.

Shape:
    the result has the shape of input.

>>> torch.arange(3).index_fill(0, torch.tensor([0, 2]), -1)
tensor([-1,  1, -1]))");
  overloads<&index_fill_in_place, &index_fill_value_in_place>(
      m, {"index_fill_(self, dim, index, value)", "index_fill_(self, dim, index, value)"},
      by_parts(As::method), R"(index_fill() in place.)");
  op<&index_copy>(m, "index_copy(input, dim, index, source, *, out=None)",
                  by_parts({.in_place = As::method, .apart = true, .exact = true}),
                  R"(A copy of input with slices of source written at indices of a dimension.

Args:
    index: a vector of int64 indices.
    source: the slices; input's shape, but with index's length in dim.

Shape:
    the result has the shape of input.

>>> torch.zeros(3).index_copy(0, torch.tensor([2, 0]), torch.tensor([5., 7.]))
tensor([7., 0., 5.]))");
  op<&masked_scatter>(
      m, "masked_scatter(input, mask, source)", by_parts({.in_place = As::method}),
      R"(A copy of input with source's elements, in row-major order, written where mask is True.

Args:
    mask: a bool tensor that broadcasts to input's shape.
    source: at least as many elements as mask has True ones.

Shape:
    the result has the shape of input.

>>> mask = torch.tensor([True, False, True])
>>> torch.zeros(3).masked_scatter(mask, torch.tensor([5., 7.]))
tensor([5., 0., 7.]))");
  op<&scatter_reduce>(
      m, "scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None)",
      {.in_place = As::method, .keeps_input = true, .apart = true, .exact = true},
      R"(A copy of input, each element reduced with the elements of src that index assigns to it.

For dim 0, out[index[i][j]][j] is reduced with src[i][j].

Args:
    src: the values.
    dim: the dimension that index refers to.
    index: int64 indices, with as many dimensions as input, and not larger than src.
    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'.
    include_self: whether input's own elements take part.

Shape:
    the result has the shape of input.

>>> x = torch.tensor([1.0, 2.0])
>>> x.scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([3.0, 4.0]), "amax")
tensor([4., 2.]))");
  op<&index_reduce>(
      m, "index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None)",
      {.in_place = As::method, .keeps_input = true, .apart = true, .exact = true},
      R"(A copy of input with each slice of dim reduced with the slices of source assigned to it.

Args:
    source: input's shape, but with index's length in dim.
    include_self: whether input's own elements take part.
    dim: the dimension that index refers to.
    index: a vector of int64 or int32 indices; they may repeat.
    reduce: 'prod', 'mean', 'amax' or 'amin'.

Shape:
    the result has the shape of input.

>>> x = torch.ones(2, 2)
>>> x.index_reduce(0, torch.tensor([0, 0]), torch.full((2, 2), 3.0), "prod")
tensor([[9., 9.],
        [1., 1.]]))");
  op<&put>(m, "put(input, index, source, accumulate=False)",
           by_parts({.in_place = As::method, .apart = true}),
           R"(A copy of input with source written at indices of the flattened tensor.

Args:
    source: as many elements as index has.
    index: int64 indices; negative ones count from the end.
    accumulate: whether source is added; an index may then occur several times.

Shape:
    the result has the shape of input.

>>> torch.put(torch.zeros(2, 2), torch.tensor([0, 3]), torch.tensor([5.0, 7.0]))
tensor([[5., 0.],
        [0., 7.]]))");
}

}  // namespace rushlight::python
