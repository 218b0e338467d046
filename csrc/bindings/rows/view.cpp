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
Tensor reshape_function(const Tensor& input, Shape shape) { return reshape(input, shape); }
Tensor reshape_method(const Tensor& self, Shape shape) { return reshape(self, shape); }
Tensor permute_function(const Tensor& input, Shape dims) { return permute(input, dims); }
Tensor permute_method(const Tensor& self, Shape dims) { return permute(self, dims); }
Tensor expand_method(const Tensor& self, Shape size, bool) { return expand(self, size); }
Tensor broadcast_to(const Tensor& input, Shape size) { return expand(input, size); }
Tensor ravel(const Tensor& input) { return reshape(input, {-1}); }
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
Tensor as_strided_op(const Tensor& input, Shape size, Shape stride,
                     std::optional<std::int64_t> storage_offset) {
  return as_strided(input, size, stride, storage_offset);
}
Tensor unflatten_op(const Tensor& input, std::int64_t dim, Shape sizes) {
  return unflatten(input, dim, sizes);
}
Tensor detach_in_place(const Tensor& self) {
  if (self->base) fail<RuntimeError>("Can't detach views in-place. Use detach() instead.");
  Body& b = *self.body();
  if (b.node) {
    if (Node* old = std::exchange(b.node, nullptr)) Ref<Node>::adopt(old);
  }
  b.requires_grad = false;
  b.output = 0;
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
  op<&detach>(m, "detach(input)", {.copy = true},
              "The same elements without history.\n\n>>> torch.ones(2, "
              "requires_grad=True).detach().requires_grad\nFalse");
  op<&detach_in_place>(m, "detach_(self)", As::both,
                       "detach() in place: drops the tensor's own history.");
  overloads<&view_as_type, &view_shape>(
      m, {"view(self, dtype)", "view(self, *size)"}, {.as = As::method, .copy = true},
      R"(The same elements with another shape, or read as another dtype; never a copy.

Args:
    size: the shape; one size may be -1.
    dtype: how to read the bytes.

Raises:
    RuntimeError: if the memory's order does not allow it; reshape() copies then.

>>> torch.arange(6).view(2, -1)
tensor([[0, 1, 2],
        [3, 4, 5]]))");
  op<&view_as>(m, "view_as(self, other)", kMethod, "view(other.shape)");
  op<&reshape_function>(
      m, "reshape(input, shape)", As::function,
      "The same elements with another shape; a view where possible, else a copy.\n\n>>> "
      "torch.reshape(torch.arange(4), (2, 2))\ntensor([[0, 1],\n        [2, 3]])");
  op<&reshape_method>(m, "reshape(self, *shape)", kMethod,
                      "The same elements with another shape; a view where possible, else a copy.");
  op<&reshape_as>(m, "reshape_as(self, other)", kMethod, "reshape(other.shape)");
  op<&flatten>(m, "flatten(input, start_dim=0, end_dim=-1)", As::both,
               "Dimensions start_dim to end_dim merged into one.\n\n>>> torch.ones(2, 3, "
               "4).flatten(1).shape\ntorch.Size([2, 12])");
  op<&unflatten_op>(m, "unflatten(input, dim, sizes)", As::both,
                    "One dimension cut into several; one size may be -1.\n\n>>> "
                    "torch.ones(6).unflatten(0, (2, 3)).shape\ntorch.Size([2, 3])");
  op<&ravel>(m, "ravel(input)", As::both, R"(All elements in one dimension.

    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
)");
  op<&expand_method>(m, "expand(self, *size, implicit=False)", {.as = As::method, .copy = true},
                     "Dimensions of size 1 repeated without a copy; -1 keeps a size.\n\n>>> "
                     "torch.tensor([[1], [2]]).expand(2, 2)\ntensor([[1, 1],\n        [2, 2]])");
  op<&expand_as>(m, "expand_as(self, other)", kMethod, "expand(other.shape)");
  op<&broadcast_to, 1>(m, "broadcast_to(self, *size)", kMethod, "See torch.broadcast_to().");
  op<&broadcast_to>(m, "broadcast_to(input, size)", As::function,
                    R"(input seen with shape `size`, by broadcasting.

    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
)");
  op<&permute_function>(m, "permute(input, dims)", {.as = As::function, .copy = true},
                        "The dimensions in another order.\n\n>>> torch.permute(torch.ones(2, 3, "
                        "4), (2, 0, 1)).shape\ntorch.Size([4, 2, 3])");
  op<&permute_method>(m, "permute(self, *dims)", kMethod, "The dimensions in another order.");
  op<&transpose>(
      m, "transpose(input, dim0, dim1)", {.copy = true},
      "Two dimensions swapped.\n\n>>> torch.ones(2, 3).transpose(0, 1).shape\ntorch.Size([3, 2])");
  for (const char* name : {"swapaxes", "swapdims"}) publish_alias(m, As::both, "transpose", name);
  op<&rushlight::t>(m, "t(input)", {.copy = true},
                    "The transposed matrix; a vector is itself.\n\n>>> torch.ones(2, "
                    "3).t().shape\ntorch.Size([3, 2])");
  overloads<&squeeze_all, &squeeze_dims>(
      m, {"squeeze(input)", "squeeze(input, *dim)"}, {.copy = true},
      "Without dimensions of size 1: all, or those named.\n\n>>> torch.ones(1, 2, "
      "1).squeeze().shape\ntorch.Size([2])");
  op<&unsqueeze>(m, "unsqueeze(input, dim)", {.copy = true},
                 "With a new dimension of size 1 at `dim`.\n\n>>> "
                 "torch.ones(2).unsqueeze(0).shape\ntorch.Size([1, 2])");
  op<&GeometryInPlace<&transpose>::call>(m, "transpose_(self, dim0, dim1)", kMethod,
                                         "transpose() in place: nothing moves.");
  for (const char* name : {"swapaxes_", "swapdims_"}) publish_alias(m, kMethod, "transpose_", name);
  op<&GeometryInPlace<&rushlight::t>::call>(m, "t_(self)", kMethod, "t() in place.");
  overloads<&GeometryInPlace<&squeeze_all>::call, &GeometryInPlace<&squeeze_dims>::call>(
      m, {"squeeze_(self)", "squeeze_(self, *dim)"}, kMethod, "squeeze() in place.");
  op<&GeometryInPlace<&unsqueeze>::call>(m, "unsqueeze_(self, dim)", kMethod,
                                         "unsqueeze() in place.");
  op<&GeometryInPlace<&as_strided_op>::call>(m,
                                             "as_strided_(self, size, stride, storage_offset=None)",
                                             As::both, "as_strided() in place.");
  op<&rushlight::select>(m, "select(input, dim, index)", {.copy = true},
                         "One index of a dimension, which goes away.\n\n>>> "
                         "torch.arange(4).view(2, 2).select(1, 0)\ntensor([0, 2])");
  overloads<&narrow_op, &narrow_by_tensor>(
      m, {"narrow(input, dim, start, length)", "narrow(input, dim, start, length)"}, As::both,
      "`length` indices of a dimension from `start` on.\n\n>>> "
      "torch.arange(5).narrow(0, 1, 3)\ntensor([1, 2, 3])");
  op<&diagonal>(m, "diagonal(input, offset=0, dim1=0, dim2=1)", {.copy = true},
                "The diagonal of two dimensions, as the last one.\n\n>>> torch.arange(4).view(2, "
                "2).diagonal()\ntensor([0, 3])");
  op<&unfold>(
      m, "unfold(self, dimension, size, step)", {.as = As::method, .copy = true},
      "All windows of `size` along a dimension, `step` apart, as a new last dimension.\n\n>>> "
      "torch.arange(4).unfold(0, 2, 1)\ntensor([[0, 1],\n        [1, 2],\n        [2, 3]])");
  op<&movedim_op>(m, "movedim(input, source, destination)", As::both,
                  "Dimensions moved to other positions.\n\n>>> torch.ones(2, 3, 4).movedim(0, "
                  "-1).shape\ntorch.Size([3, 4, 2])");
  publish_alias(m, As::both, "movedim", "moveaxis");
  op<&as_strided_op>(m, "as_strided(input, size, stride, storage_offset=None)", {.copy = true},
                     "The storage seen with any geometry inside it.\n\nRaises:\n    RuntimeError: "
                     "if that would leave the storage.\n\n>>> torch.arange(4).as_strided((2, 2), "
                     "(1, 1))\ntensor([[0, 1],\n        [1, 2]])");
}

}  // namespace rushlight::python
