// Conversions of whole tensors: dtype, device, Python scalars and lists.
#include <cstring>

#include "bindings/data.h"
#include "bindings/formats.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "core/backend.h"
#include "kernels/parallel.h"
#include "kernels/stored.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Format = const MaybeFormat&;

// What to(self, ...) made, in a format. Where it is self, only another format makes a copy: strides
// with gaps are none.
Tensor converted(const Tensor& self, const Tensor& made, Format format) {
  if (made.is_same(self) && format == format_of(self)) return made;
  return in_format(made, format);
}

Tensor to_dtype(const Tensor& self, DType dtype, bool non_blocking, bool copy,
                Format memory_format) {
  return converted(self, to(self, dtype, self.device(), copy, non_blocking), memory_format);
}
Tensor to_device(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype,
                 bool non_blocking, bool copy, Format memory_format) {
  return converted(
      self,
      to(self, dtype.value_or(self.dtype()), device.value_or(self.device()), copy, non_blocking),
      memory_format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                Format memory_format) {
  return converted(self, to(self, other.dtype(), other.device(), copy, non_blocking),
                   memory_format);
}
Tensor cuda(const Tensor& self, std::optional<Device> device, bool non_blocking,
            Format memory_format) {
  const Device d = device.value_or(Device{DeviceType::cuda, -1});
  if (!d.is_cuda()) fail<RuntimeError>("Invalid device, must be cuda device, but got ", d);
  return converted(self, to(self, self.dtype(), d, false, non_blocking), memory_format);
}
Tensor cpu(const Tensor& self, Format memory_format) {
  return converted(self, to(self, kCpu), memory_format);
}
template <DType D>
Tensor as_dtype(const Tensor& self, Format memory_format) {
  return converted(self, to(self, D), memory_format);
}
Tensor type_as(const Tensor& self, const Tensor& other) {
  return to(self, other.dtype(), other.device());
}
Tensor contiguous_op(const Tensor& self, Format memory_format) {
  return !memory_format ? contiguous(self) : in_format(self, memory_format);
}
Tensor clone_op(const Tensor& input, Format memory_format) {
  return !memory_format ? clone(input) : in_format(clone(input), memory_format);
}
Tensor resize_op(const Tensor& self, Shape size, Format memory_format) {
  if (memory_format == MemoryFormat::preserve)
    fail<RuntimeError>("Unsupported memory formatPreserve");
  return resize_(self, size, channels_last_rank(memory_format));
}
bool is_contiguous(const Tensor& self, Format memory_format) {
  const int rank = channels_last_rank(memory_format);
  if (!rank) return self.is_contiguous();
  if (self.dim() != rank) return false;
  return permute(detach(self), rank == 4 ? Shape{0, 2, 3, 1} : Shape{0, 2, 3, 4, 1})
      .is_contiguous();
}

Tensor copy_op(const Tensor& self, Input other, bool non_blocking) {
  if (other.tensor)
    copy_(self, *other.tensor, non_blocking);
  else
    fill_(self, other.scalar);
  return self;
}
Tensor fill_op(const Tensor& self, Input value) {
  if (!value.tensor) {
    check_fits("fill_", "value", value.scalar, self.dtype());
    fill_(self, value.scalar);
    return self;
  }
  if (value.tensor->dim() != 0)
    fail<RuntimeError>("fill_ only supports 0-dimension value tensor but got tensor with ",
                       value.tensor->dim(), " dimensions.");
  Tensor number =
      (*value.tensor)->number ? number_as("fill_", *value.tensor, self.dtype()) : *value.tensor;
  if (number->storage.get() == self->storage.get()) number = clone(number);  // one of self's own
  copy_(self, number);
  return self;
}
Tensor filled_copy(const Tensor& input, Input value) {
  return as_new(fill_op(clone(input), value));
}
Tensor zero_op(const Tensor& self) {
  zero_(self);
  return self;
}

py::object item_op(const Tensor& self) {
  if (self.numel() != 1) item(self);  // throws
  return python_number(self, self.offset());
}

template <class S>
PyObject* element_to_python(const S* at) {
  const auto value = load(at);
  if constexpr (std::is_same_v<S, bool>)
    return to_python(bool(value));
  else if constexpr (std::is_same_v<S, std::uint64_t>)
    return PyLong_FromUnsignedLongLong(value);
  else if constexpr (std::is_integral_v<S>)
    return to_python(std::int64_t(value));
  else if constexpr (IsComplex<S>::value)
    return PyComplex_FromDoubles(double(value.real), double(value.imag));
  else
    return to_python(double(value));
}
// The elements from `at` on, a list per dimension; `at` moves behind them.
template <class S>
py::object nested(const Shape& shape, int d, const S*& at) {
  auto list = py::reinterpret_steal<py::object>(PyList_New(shape[d]));
  if (!list) throw py::error_already_set();
  // A signal's handler may run Python, which must not find a list with items missing.
  PyObject_GC_UnTrack(list.ptr());
  for (std::int64_t i = 0; i < shape[d]; ++i) {
    if (i % 1024 == 1023) check_interrupt();
    PyObject* item =
        d == shape.rank - 1 ? element_to_python(at++) : nested(shape, d + 1, at).release().ptr();
    if (!item) throw py::error_already_set();
    PyList_SET_ITEM(list.ptr(), i, item);
  }
  PyObject_GC_Track(list.ptr());
  return list;
}
py::object listed(const Shape shape, DType dtype, const void* data) {
  return dispatch_stored(dtype, [&]<class S>(Type<S>) {
    const S* at = static_cast<const S*>(data);
    return nested(shape, 0, at);
  });
}
// It reads a copy: making a list may run Python that changes the tensor.
py::object tolist(const Tensor& self) {
  if (self.dim() == 0) return item_op(self);
  const bool lies_here = self.device().is_cpu() && self.is_contiguous();
  if (self.dtype() == DType::float4_e2m1fn_x2) refuse_stored("tolist", self.dtype());
  const std::size_t bytes = std::size_t(self.numel()) * item_size(self.dtype());
  if (alignas(16) char small[512]; lies_here && bytes <= sizeof(small)) {
    std::memcpy(small, stored_view_of(self).data, bytes);
    return listed(self.shape(), self.dtype(), small);
  }
  const Tensor host = to(detach(self), kCpu);
  const Tensor copy = lies_here ? clone(host) : contiguous(host);
  return listed(copy.shape(), copy.dtype(), stored_view_of(copy).data);
}

std::int64_t data_ptr(const Tensor& self) {
  if (self.device().is_meta() || self.numel() == 0) return 0;
  return std::int64_t(reinterpret_cast<std::intptr_t>(stored_view_of(self).data));
}
// A 0-d tensor counts as having a dimension elsewhere; it has no size of one.
void check_has_dimensions(const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0)
    fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
}
py::object size_op(const Tensor& self, std::optional<std::int64_t> dim) {
  if (dim) check_has_dimensions(self, *dim);
  return py::reinterpret_steal<py::object>(dim ? to_python(self.size(*dim))
                                               : to_python(self.shape()));
}
py::object stride_op(const Tensor& self, std::optional<std::int64_t> dim) {
  if (dim) check_has_dimensions(self, *dim);
  if (dim) return py::int_(self.stride(*dim));
  py::tuple all(self.dim());
  for (int d = 0; d < self.dim(); ++d) all[std::size_t(d)] = self->strides[std::size_t(d)];
  return all;
}
std::int64_t numel_op(const Tensor& input) { return input.numel(); }
std::int64_t dim_op(const Tensor& self) { return self.dim(); }
std::int64_t element_size(const Tensor& self) { return std::int64_t(item_size(self.dtype())); }
std::int64_t storage_offset(const Tensor& self) { return self.offset(); }
bool is_floating_point(const Tensor& input) { return is_floating(input.dtype()); }
bool is_complex_op(const Tensor& input) { return is_complex(input.dtype()); }
bool is_signed_op(const Tensor& self) { return is_signed(self.dtype()); }
bool is_same_size(const Tensor& self, const Tensor& other) {
  return same(self.sizes(), other.sizes());
}
bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self->storage.get() == tensor->storage.get() && self.offset() == tensor.offset() &&
         same(self.sizes(), tensor.sizes()) && same(self.strides(), tensor.strides());
}
bool is_nonzero(const Tensor& input) {
  if (input.numel() != 1)
    fail<RuntimeError>("Boolean value of Tensor with ",
                       input.numel() ? "more than one value" : "no values", " is ambiguous");
  return is_true(input);
}
std::int64_t get_device(const Tensor& self) {
  return self.device().is_cuda() ? self.device().index : -1;
}

}  // namespace

void bind_copy(py::module_& m) {
  constexpr auto kMethod = As::method;
  overloads<&to_dtype, &to_device, &to_other>(
      m,
      {"to(self, dtype, non_blocking=False, copy=False, *, memory_format=None)",
       "to(self, device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None)",
       "to(self, other, non_blocking=False, copy=False, *, memory_format=None)"},
      stored(kMethod),
      R"(The tensor with another dtype or on another device; itself if nothing changes.

Args:
    dtype: the element type.
    other: a tensor whose dtype and device to take.
    device: a device, a string or the index of a GPU.
    non_blocking: whether the call may return before a copy from page-locked memory to a GPU ends;
        the source must not change until then. Other copies ignore it.
    copy: whether to copy even if nothing changes.

Shape:
    that of self.

>>> torch.tensor([1, 2]).to(torch.float64)
tensor([1., 2.], dtype=torch.float64))");
  op<&cuda>(m, "cuda(self, device=None, non_blocking=False, memory_format=None)", stored(kMethod),
            R"(The tensor on a GPU: on `device`, or the current one.

Args:
    device: the GPU; None for the current one.

Shape:
    that of self.

Raises:
    RuntimeError: where there is no GPU; the message tells how to get one.

>>> torch.ones(2).cuda().device  # doctest: +SKIP
device(type='cuda', index=0))");
  op<&cpu>(m, "cpu(self, *, memory_format=None)", stored(kMethod),
           R"(The tensor in host memory; itself if it is there.

Shape:
    that of self.

>>> torch.ones(2).cpu()
tensor([1., 1.]))");
  const auto cast = [&]<DType D>(const std::string& method, const char* name) {
    op<&as_dtype<D>>(
        m, method + "(self, *, memory_format=None)", stored(kMethod),
        text("The tensor as ", name,
             "; itself if it has that dtype.\n\nShape:\n    that of self.\n\n>>> torch.ones(1).",
             method, "().dtype\ntorch.", name));
  };
  cast.operator()<DType::float32>("float", "float32");
  cast.operator()<DType::float64>("double", "float64");
  cast.operator()<DType::float16>("half", "float16");
  cast.operator()<DType::bfloat16>("bfloat16", "bfloat16");
  cast.operator()<DType::int32>("int", "int32");
  cast.operator()<DType::int64>("long", "int64");
  cast.operator()<DType::int16>("short", "int16");
  cast.operator()<DType::int8>("char", "int8");
  cast.operator()<DType::uint8>("byte", "uint8");
  cast.operator()<DType::boolean>("bool", "bool");
  cast.operator()<DType::complex32>("chalf", "complex32");
  cast.operator()<DType::complex64>("cfloat", "complex64");
  cast.operator()<DType::complex128>("cdouble", "complex128");
  op<&type_as>(m, "type_as(self, other)", stored(kMethod),
               R"(The tensor with other's dtype, on other's device.

Args:
    other: the tensor whose dtype and device are taken.

Shape:
    that of self.

>>> torch.ones(1).type_as(torch.zeros(1, dtype=torch.int64))
tensor([1]))");
  op<&contiguous_op>(
      m, "contiguous(self, memory_format=None)", stored(kMethod),
      R"(The tensor with contiguous, row-major elements; itself if they are contiguous already.

Shape:
    that of input.

>>> torch.ones(2, 3).t().contiguous().stride()
(2, 1))");
  op<&resize_op>(m, "resize_(self, *size, memory_format=None)", stored(As::method),
                 R"(Gives the tensor another shape: its elements in the order of memory, and as many
more, not set, as it takes. Where its storage has too few bytes, that grows, also for views of it.

Args:
    size: the shape.
    memory_format: torch.contiguous_format or torch.channels_last.

Shape:
    self gets `size`.

Raises:
    RuntimeError: if the tensor requires grad, or its memory is shared with NumPy,
        DLPack or another process.

>>> torch.tensor([1, 2, 3]).resize_(2)
tensor([1, 2]))");
  op<&clone_op>(m, "clone(input, *, memory_format=None)", stored(As::both),
                R"(A copy; gradients flow through it.

Shape:
    that of input.

>>> torch.tensor([1, 2]).clone()
tensor([1, 2]))");
  op<&is_contiguous>(m, "is_contiguous(self, memory_format=None)", stored(kMethod),
                     R"(Whether the elements are contiguous in row-major order.

Args:
    memory_format: the order that is meant; None for row-major.

>>> torch.ones(2, 3).t().is_contiguous()
False)");
  op<&copy_op>(m, "copy_(self, other, non_blocking=False)", stored(kMethod),
               R"(Writes other's elements into self: broadcasts, casts, and crosses devices.

Args:
    other: the tensor that is copied; it broadcasts to self's shape.

Shape:
    other broadcasts to self.

>>> torch.zeros(2).copy_(torch.tensor([1, 2]))
tensor([1., 2.]))");
  op<&filled_copy>(m, "fill(input, value)", stored(As::function),
                   R"(A tensor like input, filled with `value`.

Args:
    value: a scalar or a 0-d tensor.

Shape:
    the result has the shape of input.

>>> torch.fill(torch.zeros(2), 3)
tensor([3., 3.]))");
  op<&fill_op>(m, "fill_(input, value)", stored(As::both),
               R"(Writes value into every element.

Args:
    value: a scalar or a 0-d tensor.

Shape:
    that of input.

>>> torch.zeros(2).fill_(3)
tensor([3., 3.]))");
  op<&zero_op>(m, "zero_(input)", stored(As::both),
               "Writes 0 into every element.\n\n>>> torch.ones(2).zero_()\ntensor([0., 0.])");
  op<&item_op>(m, "item(self)", stored(kMethod),
               R"(The only element as a Python number.

Shape:
    any of one element.

Raises:
    RuntimeError: if there is not exactly one.

>>> torch.tensor([2.5]).item()
2.5)");
  op<&tolist>(m, "tolist(self)", stored(kMethod),
              R"(The elements as nested lists; a Python scalar for a 0-d tensor.

Shape:
    (n, *) gives a list of n items.

>>> torch.tensor([[1, 2]]).tolist()
[[1, 2]])");
  op<&data_ptr>(m, "data_ptr(self)", stored(kMethod),
                R"(The address of the first element.

>>> torch.empty(0).data_ptr()
0)");
  op<&size_op>(m, "size(self, dim=None)", stored(kMethod),
               R"(All sizes, or that of one dimension.

Args:
    dim: the dimension; None for all sizes.

>>> torch.ones(2, 3).size(1)
3)");
  op<&stride_op>(m, "stride(self, dim=None)", stored(kMethod),
                 R"(All strides in elements, or that of one dimension.

Args:
    dim: the dimension; None for all strides.

>>> torch.ones(2, 3).stride()
(3, 1))");
  op<&numel_op>(m, "numel(input)", stored(As::both),
                "The number of elements.\n\n>>> torch.ones(2, 3).numel()\n6");
  publish_alias(m, kMethod, "numel", "nelement");
  op<&dim_op>(m, "dim(self)", stored(kMethod),
              R"(The number of dimensions.

>>> torch.ones(2, 3).dim()
2)");
  publish_alias(m, kMethod, "dim", "ndimension");
  op<&element_size>(m, "element_size(self)", stored(kMethod),
                    R"(The number of bytes of an element.

>>> torch.ones(1).element_size()
4)");
  op<&storage_offset>(m, "storage_offset(self)", stored(kMethod),
                      R"(The index in its storage of the tensor's first element.

>>> torch.ones(4)[1:].storage_offset()
1)");
  op<&is_floating_point>(m, "is_floating_point(input)", stored(As::both),
                         R"(Whether the dtype is a floating-point type.

    >>> torch.is_floating_point(torch.tensor([1, 2]))
    False
)");
  op<&is_complex_op>(m, "is_complex(input)", stored(As::both),
                     R"(Whether the dtype is a complex type.

    >>> torch.is_complex(torch.ones(2))
    False
)");
  op<&is_signed_op>(
      m, "is_signed(input)", stored(As::both),
      "Whether the dtype has negative values.\n\n>>> torch.is_signed(torch.ones(1))\nTrue");
  op<&is_same_size>(m, "is_same_size(input, other)", stored(As::both),
                    R"(Whether the shapes are equal.

Args:
    other: the other tensor.

Shape:
    any two.

>>> torch.is_same_size(torch.ones(2), torch.ones(2, 1))
False)");
  op<&is_set_to>(m, "is_set_to(self, tensor)", stored(kMethod),
                 R"(Whether both tensors are the same view of one storage.

Args:
    tensor: the other tensor.

>>> x = torch.ones(2)
>>> x.is_set_to(x.view(2))
True)");
  op<&is_nonzero>(m, "is_nonzero(input)", stored(As::both), R"(Whether the one element is not 0.

Shape:
    any of one element.

Raises:
    RuntimeError: if there is not exactly one element.

    >>> torch.is_nonzero(torch.tensor([0.]))
    False
)");
  op<&get_device>(m, "get_device(input)", stored({.as = As::both, .differentiable = false}),
                  R"(The index of the tensor's GPU, or -1 for the CPU.

>>> torch.ones(1).get_device()
-1)");
}

}  // namespace rushlight::python
