// Views: see csrc/ops/view.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor squeeze_all(const Tensor& input) { return squeeze(input, {}); }
Tensor squeeze_dims(const Tensor& input, Shape dim) {
  return dim.rank ? squeeze(input, dim) : input;
}
Tensor view_as_type(const Tensor& self, DType dtype) { return view_dtype(self, dtype); }
Tensor view_shape(const Tensor& self, Shape size) { return view(self, size); }
Tensor view_as(const Tensor& self, const Tensor& other) { return view(self, other.shape()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return reshape(self, other.shape()); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return expand(self, other.shape()); }
Tensor reshape_function(const Tensor& input, Listed shape) { return reshape(input, shape); }
Tensor reshape_method(const Tensor& self, Shape shape) { return reshape(self, shape); }
Tensor permute_function(const Tensor& input, Listed dims) { return permute(input, dims); }
Tensor permute_method(const Tensor& self, Shape dims) { return permute(self, dims); }
Tensor expand_method(const Tensor& self, Shape size, bool) { return expand(self, size); }
Tensor broadcast_to(const Tensor& input, Listed size) { return expand(input, size); }
Tensor broadcast_method(const Tensor& self, Shape size) { return expand(self, size); }
Tensor ravel(const Tensor& input) { return view(contiguous(input), {-1}); }
Tensor narrow_op(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return narrow(input, dim, start, length);
}
Tensor narrow_by_tensor(const Tensor& input, std::int64_t dim, const Tensor& start,
                        std::int64_t length) {
  if (start.dim() != 0 || !is_integral(start.dtype()) || start.dtype() == DType::boolean)
    fail<RuntimeError>("start must be an 0-dim integral Tensor.\nnarrow(): ",
                       describe("start", start));
  return narrow(input, dim, item(start).as_int(), length);
}
Tensor movedim_op(const Tensor& input, Shape source, Shape destination) {
  return movedim(input, source, destination);
}
Tensor as_strided_op(const Tensor& input, Listed size, Listed stride,
                     std::optional<std::int64_t> storage_offset) {
  return as_strided(input, size, stride, storage_offset);
}
Tensor unflatten_op(const Tensor& input, std::int64_t dim, Listed sizes) {
  return unflatten(input, dim, sizes);
}
Tensor detach_in_place(const Tensor& self) {
  if (self->base) fail<RuntimeError>("Can't detach views in-place. Use detach() instead.");
  Body& b = *self.body();
  const Tensor grad = grad_of(self);
  take_node(b);  // and let it go
  b.requires_grad = false;
  b.output = 0;
  if (grad) set_grad(self, grad);
  return self;
}

// The in-place form of a view: self itself takes the geometry.
template <auto F>
struct GeometryInPlace;
template <class... A, Tensor (*F)(const Tensor&, A...)>
struct GeometryInPlace<F> {
  static Tensor call(const Tensor& self, A... a) {
    take_geometry(self, F(self, static_cast<A&&>(a)...));
    return self;
  }
};

}  // namespace

void bind_view(py::module_& m) {
  constexpr auto kMethod = As::method;
  op<&detach>(m, "detach(input)", stored({.copy = true}),
              R"(A view that has no autograd history.

Shape:
    that of input.

>>> torch.ones(2, requires_grad=True).detach().requires_grad
False)");
  op<&detach_in_place>(m, "detach_(input)", stored(As::both),
                       "detach() in place: drops the tensor's own history.");
  overloads<&view_as_type, &view_shape>(
      m, {"view(input, dtype)", "view(input, *size)"}, stored({.as = As::method, .copy = true}),
      R"(The same elements with another shape, or their bytes read as another dtype; never a copy.

Args:
    size: the new shape; one size may be -1, and is computed.
    dtype: the dtype that the bytes are read as.

Shape:
    the result has shape size; with dtype, the last size changes by the ratio of element sizes.

Raises:
    RuntimeError: if the strides do not allow it; reshape() then copies.

>>> torch.arange(6).view(2, -1)
tensor([[0, 1, 2],
        [3, 4, 5]]))");
  op<&view_as>(m, "view_as(self, other)", stored(kMethod),
               R"(view() with other's shape.

Args:
    other: the tensor whose shape is taken.

Shape:
    that of other.

>>> torch.arange(4).view_as(torch.zeros(2, 2)).shape
torch.Size([2, 2]))");
  op<&reshape_function>(
      m, "reshape(input, shape)", stored(As::function),
      R"(The same elements with another shape: a view where the strides allow it, else a copy.

Args:
    shape: the new shape; one size may be -1, and is computed.

Shape:
    the result has the given shape.

>>> torch.reshape(torch.arange(4), (2, 2))
tensor([[0, 1],
        [2, 3]]))");
  op<&reshape_method>(m, "reshape(self, *shape)", stored(kMethod), "torch.reshape() as a method.");
  op<&reshape_as>(m, "reshape_as(self, other)", stored(kMethod),
                  R"(reshape() with other's shape.

Args:
    other: the tensor whose shape is taken.

Shape:
    that of other.

>>> torch.arange(4).reshape_as(torch.zeros(2, 2)).shape
torch.Size([2, 2]))");
  op<&flatten>(m, "flatten(input, start_dim=0, end_dim=-1)", stored(As::both),
               R"(Merges the dimensions start_dim to end_dim, both included, into one.

Args:
    start_dim: the first dimension to merge.
    end_dim: the last dimension to merge.

Shape:
    input (*, a, ..., b, *) gives (*, a * ... * b, *).

>>> torch.ones(2, 3, 4).flatten(1).shape
torch.Size([2, 12]))");
  op<&unflatten_op>(m, "unflatten(input, dim, sizes)", stored(As::both),
                    R"(Splits a dimension into several.

Args:
    sizes: the sizes of the new dimensions; one may be -1, and is computed.

Shape:
    input (*, n, *) gives (*, sizes, *) with n the product of sizes.

>>> torch.ones(6).unflatten(0, (2, 3)).shape
torch.Size([2, 3]))");
  op<&ravel>(m, "ravel(input)", stored(As::both),
             R"(All elements in one dimension; a copy only where a view is impossible.

Shape:
    the result is (n) for n elements.

>>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
tensor([1, 2, 3, 4]))");
  op<&expand_method>(m, "expand(input, *size, implicit=False)",
                     stored({.as = As::method, .copy = true}),
                     R"(A view in which dimensions of size 1 are repeated, without a copy.

Args:
    size: the new shape; -1 keeps a size, and new dimensions come first.
    implicit: is for TorchScript, and changes nothing.

Shape:
    the result has shape size.

>>> torch.tensor([[1], [2]]).expand(2, 2)
tensor([[1, 1],
        [2, 2]]))");
  op<&expand_as>(m, "expand_as(self, other)", stored(kMethod),
                 R"(expand() with other's shape.

Args:
    other: the tensor whose shape is taken.

Shape:
    that of other.

>>> torch.ones(1, 2).expand_as(torch.zeros(3, 2)).shape
torch.Size([3, 2]))");
  op<&broadcast_method>(m, "broadcast_to(self, *size)", stored(kMethod),
                        "torch.broadcast_to() as a method.");
  op<&broadcast_to>(m, "broadcast_to(input, size)", stored(As::function),
                    R"(A view of input broadcast to shape `size`.

Shape:
    the result has shape size.

>>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
tensor([[1, 2],
        [1, 2]]))");
  op<&permute_function>(m, "permute(input, dims)", stored({.as = As::function, .copy = true}),
                        R"(A view with the dimensions in another order.

Args:
    dims: the dimension of input for each dimension of the result.

Shape:
    size i of the result is input.size(dims[i]).

>>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
torch.Size([4, 2, 3]))");
  op<&permute_method>(m, "permute(self, *dims)", stored(kMethod), "torch.permute() as a method.");
  op<&transpose>(m, "transpose(input, dim0, dim1)", stored({.copy = true}),
                 R"(A view with two dimensions swapped.

Args:
    dim0: the first of them.
    dim1: the second of them.

Shape:
    that of input with sizes dim0 and dim1 swapped.

>>> torch.ones(2, 3).transpose(0, 1).shape
torch.Size([3, 2]))");
  publish_alias(m, As::both, "transpose", "swapdims");
  op<&rushlight::transpose, 2>(m, "swapaxes(input, axis0, axis1)", stored(As::both),
                               R"(transpose() by NumPy's name.

Args:
    axis0: the first of the dimensions.
    axis1: the second of them.

Shape:
    that of input with sizes axis0 and axis1 swapped.

>>> torch.ones(2, 3).swapaxes(axis0=0, axis1=1).shape
torch.Size([3, 2]))");
  op<&rushlight::t>(m, "t(input)", stored({.copy = true}),
                    R"(The transposed matrix, a view; a vector or scalar is returned as it is.

Shape:
    input (n, m) gives (m, n).

>>> torch.ones(2, 3).t().shape
torch.Size([3, 2]))");
  overloads<&squeeze_all, &squeeze_dims>(
      m, {"squeeze(input)", "squeeze(input, *dim)"}, stored({.copy = true}),
      R"(A view without dimensions of size 1: all of them, or those given.

Args:
    dim: the dimensions; those of another size stay.

Shape:
    that of input without the sizes of 1.

>>> torch.ones(1, 2, 1).squeeze().shape
torch.Size([2]))");
  op<&unsqueeze>(m, "unsqueeze(input, dim)", stored({.copy = true}),
                 R"(A view with a new dimension of size 1 before dimension `dim`.

Args:
    dim: the index of the new dimension.

Shape:
    input (*, n) gives (*, 1, n) with dim=-2.

>>> torch.ones(2).unsqueeze(0).shape
torch.Size([1, 2]))");
  op<&GeometryInPlace<&transpose>::call>(m, "transpose_(self, dim0, dim1)", stored(kMethod),
                                         "transpose() in place: nothing moves.");
  publish_alias(m, kMethod, "transpose_", "swapdims_");
  op<&GeometryInPlace<&transpose>::call, 2>(m, "swapaxes_(self, axis0, axis1)", stored(kMethod),
                                            "swapaxes() in place: nothing moves.");
  op<&GeometryInPlace<&rushlight::t>::call>(m, "t_(self)", stored(kMethod), "t() in place.");
  overloads<&GeometryInPlace<&squeeze_all>::call, &GeometryInPlace<&squeeze_dims>::call>(
      m, {"squeeze_(self)", "squeeze_(self, *dim)"}, stored(kMethod), "squeeze() in place.");
  op<&GeometryInPlace<&unsqueeze>::call>(m, "unsqueeze_(self, dim)", stored(kMethod),
                                         "unsqueeze() in place.");
  op<&GeometryInPlace<&as_strided_op>::call>(
      m, "as_strided_(input, size, stride, storage_offset=None)", stored(As::both),
      "as_strided() in place.");
  op<&rushlight::select>(m, "select(input, dim, index)", stored({.copy = true}),
                         R"(A view of one index of a dimension, without that dimension.

Args:
    index: the index.

Shape:
    that of input without dim.

>>> torch.arange(4).view(2, 2).select(1, 0)
tensor([0, 2]))");
  // Python's own syntax is the view; torch has the copy by name.
  op<&slice>(m, "slice(input, dim=0, start=None, end=None, step=1)",
             stored({.as = As(0), .copy = true}),
             R"(The elements from `start` to before `end`.

Args:
    start: the first index; None for 0.
    end: the index after the last; None for the size.
    step: the step between indices, at least 1.)");
  overloads<&narrow_op, &narrow_by_tensor>(
      m, {"narrow(input, dim, start, length)", "narrow(input, dim, start, length)"},
      stored(As::both),
      R"(A view of `length` indices of a dimension, from `start` on.

Args:
    start: the first index, a scalar or a 0-d integer tensor.
    length: how many indices.

Shape:
    that of input with size length in dim.

>>> torch.arange(5).narrow(0, 1, 3)
tensor([1, 2, 3]))");
  op<&diagonal>(m, "diagonal(input, offset=0, dim1=0, dim2=1)", stored({.copy = true}),
                R"(A view of the diagonals of two dimensions, as a new last dimension.

Args:
    offset: 0 is the main diagonal, positive ones are above it, negative ones below.
    dim1: the dimension of the rows.
    dim2: the dimension of the columns.

Shape:
    that of input without dim1 and dim2, and the diagonal's length at the end.

>>> torch.arange(4).view(2, 2).diagonal()
tensor([0, 3]))");
  op<&unfold>(m, "unfold(input, dimension, size, step)", stored({.as = As::method, .copy = true}),
              R"(A view of all windows along a dimension; their elements are a new last dimension.

Args:
    dimension: the dimension.
    size: the size of a window.
    step: the step between windows.

Shape:
    that of input with (n - size) / step + 1 in dimension, and size at the end.

>>> torch.arange(4).unfold(0, 2, 1)
tensor([[0, 1],
        [1, 2],
        [2, 3]]))");
  op<&movedim_op>(m, "movedim(input, source, destination)", stored(As::both),
                  R"(A view with dimensions moved to other indices; the others keep their order.

Args:
    source: the dimension or dimensions to move.
    destination: their new indices.

Shape:
    that of input, in the new order.

>>> torch.ones(2, 3, 4).movedim(0, -1).shape
torch.Size([3, 4, 2]))");
  publish_alias(m, As::both, "movedim", "moveaxis");
  op<&as_strided_op>(m, "as_strided(input, size, stride, storage_offset=None)",
                     stored({.copy = true}),
                     R"(A view of input's storage with any size, strides and offset.

Args:
    stride: the stride of each dimension, in elements.
    storage_offset: the index of the first element in the storage; None for input's.

Shape:
    the result has shape size.

Raises:
    RuntimeError: if the view would reach beyond the storage.

>>> torch.arange(4).as_strided((2, 2), (1, 1))
tensor([[0, 1],
        [1, 2]]))");
}

}  // namespace rushlight::python
