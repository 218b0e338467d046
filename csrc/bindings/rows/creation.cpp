// The constructors: tensor() and its like, by shape, by range, and the legacy ones.
#include "creation.h"

#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"
#include "core/backend.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Any = py::handle;
using Dt = const std::optional<DType>&;
using Dv = const std::optional<Device>&;

Options options(Dt dtype, Dv device, bool requires_grad, bool pin_memory = false) {
  return {dtype, device, requires_grad, pin_memory};
}

py::object tensor(py::handle data, Dt dtype, Dv device, bool requires_grad, bool pin_memory) {
  const Options o = options(dtype, device, requires_grad, pin_memory);
  Tensor out;
  if (const Tensor* t = as_tensor(data.ptr())) {
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "To copy construct from a tensor, it is recommended to use "
                     "sourceTensor.detach().clone() or "
                     "sourceTensor.detach().clone().requires_grad_(True), rather than "
                     "torch.tensor(sourceTensor).",
                     1))
      throw py::error_already_set();
    const GradMode off(false);
    out = to(*t, dtype.value_or(t->dtype()), device ? resolve(*device) : t->device(), true);
  } else {
    out = data_of(data.ptr(), dtype, true);
    out = to(out, device_of(o));
  }
  if (pin_memory) out = rushlight::pin_memory(out);
  return py::reinterpret_steal<py::object>(wrap(finish(std::move(out), o)));
}

// No copy where nothing has to change.
Tensor as_tensor_op(py::handle data, Dt dtype, Dv device) {
  if (const Tensor* t = as_tensor(data.ptr()))
    return to(*t, dtype.value_or(t->dtype()), device ? resolve(*device) : t->device());
  Tensor out = data_of(data.ptr(), dtype, false);
  return to(out, dtype.value_or(out.dtype()), device ? resolve(*device) : default_device());
}

DType or_default(Dt dtype) { return dtype ? *dtype : default_dtype(); }
Device or_default(Dv device) { return device ? resolve(*device) : default_device(); }

Tensor by_shape(const Shape& size, DType dtype, Device device, bool requires_grad, bool pin,
                const Scalar* value = nullptr) {
  if (value) check_fits(*value, dtype, "_t");
  Tensor t = value ? full(size, *value, dtype, device) : empty(size, dtype, device);
  if (pin) t = rushlight::pin_memory(t);
  return finish(std::move(t), requires_grad);
}
Tensor by_shape(const Shape& size, Dt dtype, Dv device, bool requires_grad, bool pin,
                const Scalar* value = nullptr) {
  return by_shape(size, or_default(dtype), or_default(device), requires_grad, pin, value);
}

void check_out(const Out& out, Dt dtype) {
  if (dtype && *dtype != out->dtype())
    fail<RuntimeError>("dtype ", scalar_name(*dtype), " does not match dtype of out parameter (",
                       scalar_name(out->dtype()), ")");
}
// make(dtype, device), written to `out` if there is one: then its dtype and device are what they
// would be by default.
template <class Make>
Tensor made(const char* op, const Out& out, Dt dtype, Dv device, Make make) {
  if (!out) [[likely]]
    return make(dtype, device);
  check_out(out, dtype);
  return deliver(op, out,
                 make(std::optional(out->dtype()), device ? device : std::optional(out->device())));
}
Tensor empty_op(const Shape& size, const Out& out, Dt dtype, Any, Dv device, bool requires_grad,
                bool pin, Any) {
  if (!out) [[likely]]
    return by_shape(size, dtype, device, requires_grad, pin);
  check_out(out, dtype);
  resize_output(*out, size);
  return *out;
}
Tensor constant(const char* op, const Shape& size, Scalar value, const Out& out, Dt dtype,
                Dv device, bool requires_grad, bool pin) {
  return made(op, out, dtype, device,
              [&](Dt d, Dv v) { return by_shape(size, d, v, requires_grad, pin, &value); });
}
Tensor zeros_op(const Shape& size, const Out& out, Dt dtype, Any, Dv device, bool requires_grad,
                bool pin) {
  return constant("zeros", size, 0, out, dtype, device, requires_grad, pin);
}
Tensor ones_op(const Shape& size, const Out& out, Dt dtype, Any, Dv device, bool requires_grad,
               bool pin) {
  return constant("ones", size, 1, out, dtype, device, requires_grad, pin);
}
Tensor full_op(const Shape& size, Scalar fill_value, const Out& out, Dt dtype, Any, Dv device,
               bool requires_grad, bool pin) {
  return made("full", out, dtype, device, [&](Dt d, Dv v) {
    const DType kind = fill_value.is_floating()                   ? default_dtype()
                       : fill_value.kind == Scalar::Kind::boolean ? DType::boolean
                                                                  : DType::int64;
    return by_shape(size, d.value_or(kind), or_default(v), requires_grad, pin, &fill_value);
  });
}

Tensor like(const Tensor& input, Dt dtype, Dv device, bool requires_grad,
            std::optional<Scalar> value) {
  const Device at = device ? resolve(*device) : input.device();
  const DType d = dtype.value_or(input.dtype());
  if (value) check_fits(*value, d, "_t");
  Tensor t =
      at == input.device() && !at.is_meta() ? empty_like(input, d) : empty(input.sizes(), d, at);
  if (value && !at.is_meta() && t.numel()) backend(at).copy->fill(view_of(t), *value);
  return finish(std::move(t), options(dtype, device, requires_grad));
}
Tensor empty_like_op(const Tensor& input, Dt dtype, Any, Dv device, bool requires_grad, bool, Any) {
  return like(input, dtype, device, requires_grad, {});
}
Tensor zeros_like_op(const Tensor& input, Dt dtype, Any, Dv device, bool requires_grad, bool, Any) {
  return like(input, dtype, device, requires_grad, Scalar(0));
}
Tensor ones_like_op(const Tensor& input, Dt dtype, Any, Dv device, bool requires_grad, bool, Any) {
  return like(input, dtype, device, requires_grad, Scalar(1));
}
Tensor full_like_op(const Tensor& input, Scalar fill_value, Dt dtype, Any, Dv device,
                    bool requires_grad, bool, Any) {
  return like(input, dtype, device, requires_grad, fill_value);
}

Tensor new_by_shape(const Tensor& self, const Shape& size, Dt dtype, Dv device, bool requires_grad,
                    const Scalar* value = nullptr) {
  return by_shape(size, dtype.value_or(self.dtype()), device ? resolve(*device) : self.device(),
                  requires_grad, false, value);
}
Tensor new_empty(const Tensor& self, const Shape& size, Dt dtype, Dv device, bool requires_grad) {
  return new_by_shape(self, size, dtype, device, requires_grad);
}
Tensor new_full(const Tensor& self, const Shape& size, Scalar fill_value, Dt dtype, Dv device,
                bool requires_grad) {
  return new_by_shape(self, size, dtype, device, requires_grad, &fill_value);
}
Tensor new_zeros(const Tensor& self, const Shape& size, Dt dtype, Dv device, bool requires_grad) {
  return new_full(self, size, 0, dtype, device, requires_grad);
}
Tensor new_ones(const Tensor& self, const Shape& size, Dt dtype, Dv device, bool requires_grad) {
  return new_full(self, size, 1, dtype, device, requires_grad);
}
Tensor new_tensor(const Tensor& self, py::handle data, Dt dtype, Dv device, bool requires_grad) {
  const Options o = options(dtype, device, requires_grad);
  const GradMode off(false);
  const Tensor* t = as_tensor(data.ptr());
  Tensor out = t ? clone(*t) : data_of(data.ptr(), dtype, true);
  return finish(to(out, dtype.value_or(t ? t->dtype() : self.dtype()),
                   device ? resolve(*device) : self.device()),
                o);
}

Tensor arange_range(Scalar start, Scalar end, Scalar step, const Out& out, Dt dtype, Any, Dv device,
                    bool requires_grad, bool) {
  return made("arange", out, dtype, device,
              [&](Dt d, Dv v) { return arange(start, end, step, options(d, v, requires_grad)); });
}
Tensor arange_end(Scalar end, const Out& out, Dt dtype, Any layout, Dv device, bool requires_grad,
                  bool pin) {
  return arange_range(0, end, 1, out, dtype, layout, device, requires_grad, pin);
}
// An end of linspace(): a number or a 0-d tensor.
Scalar end_of_range(const char* op, const char* name, const Input& end) {
  if (!end.tensor) return end.number;
  if (end.tensor->dim())
    fail<RuntimeError>(op, " only supports 0-dimensional start and end tensors, but got ", name,
                       " with ", end.tensor->dim(), " dimension(s).");
  return item(*end.tensor);
}
Tensor linspace_op(Input start, Input end, std::int64_t steps, const Out& out, Dt dtype, Any,
                   Dv device, bool requires_grad, bool) {
  const Scalar from = end_of_range("linspace", "start", start),
               to = end_of_range("linspace", "end", end);
  return made("linspace", out, dtype, device,
              [&](Dt d, Dv v) { return linspace(from, to, steps, options(d, v, requires_grad)); });
}
Tensor logspace_op(Input start, Input end, std::int64_t steps, double base, const Out& out,
                   Dt dtype, Any, Dv device, bool requires_grad, bool) {
  const Scalar from = end_of_range("logspace", "start", start),
               to = end_of_range("logspace", "end", end);
  return made("logspace", out, dtype, device, [&](Dt d, Dv v) {
    return logspace(from, to, steps, base, options(d, v, requires_grad));
  });
}
Tensor eye_op(std::int64_t n, std::optional<std::int64_t> m, const Out& out, Dt dtype, Any,
              Dv device, bool requires_grad, bool) {
  return made("eye", out, dtype, device,
              [&](Dt d, Dv v) { return eye(n, m.value_or(n), options(d, v, requires_grad)); });
}
Tensor scalar_tensor_op(Scalar s, Dt dtype, Any, Dv device, bool requires_grad, bool) {
  return by_shape({}, dtype, device, requires_grad, false, &s);
}
Tensor deliver_op(std::string_view op, const Tensor& out, const Tensor& result) {
  return deliver(std::string(op).c_str(), out, result);
}
Tensor empty_strided_op(Shape size, Shape stride, Dt dtype, Dv device, bool requires_grad) {
  const Options o = options(dtype, device, requires_grad);
  if (size.rank != stride.rank)
    fail<RuntimeError>("dimensionality of sizes (", int(size.rank),
                       ") must match dimensionality of strides (", int(stride.rank), ")");
  return finish(
      empty_strided(size, stride.sizes.data(), dtype.value_or(default_dtype()), device_of(o)), o);
}

}  // namespace

// Tensor(2, 3): sizes. Tensor([2, 3]): values, always of the default dtype.
bool legacy_tensor(PyObject* args, PyObject* kwargs, Tensor& out) {
  if (kwargs && PyDict_GET_SIZE(kwargs)) {
    PyObject* device = PyDict_GetItemString(kwargs, "device");
    if (!device || PyDict_GET_SIZE(kwargs) > 1) {
      if (!device)
        fail<TypeError>(
            "new() received an invalid combination of arguments: the legacy constructor "
            "Tensor(...) "
            "takes sizes or data, and device=\nuse torch.tensor(data, dtype=..., device=...)");
    }
    Device d;
    if (device && device != Py_None && Argument<Device>::read(device, d) && !d.is_cpu())
      fail<RuntimeError>(
          "legacy constructor expects device type: cpu but device type: ", device_type_name(d.type),
          " was passed\nuse torch.tensor(data, device=\"", d, "\") instead");
  }
  const Py_ssize_t n = PyTuple_GET_SIZE(args);
  if (n == 0) {
    out = empty({0}, default_dtype());
    return true;
  }
  PyObject* first = PyTuple_GET_ITEM(args, 0);
  Shape size;
  if (PyLong_Check(first) || n > 1) {
    if (!Argument<Shape>::read(args, size))
      fail<TypeError>(
          "new(): argument 'size' must be tuple of ints: Tensor(2, 3) makes a tensor of that "
          "shape, Tensor([2, 3]) one of these values");
    out = empty(size, default_dtype());
    return true;
  }
  if (const Tensor* t = as_tensor(first)) {
    out = alias(*t);
    return true;
  }
  if (PyTuple_Check(first) && !PyTuple_CheckExact(first) && Argument<Shape>::read(first, size)) {
    out = empty(size, default_dtype());  // torch.Size
    return true;
  }
  if (!is_array(first) && !PySequence_Check(first))
    fail<TypeError>("new(): data must be a sequence (got ", Py_TYPE(first)->tp_name, ")");
  out = data_of(first, default_dtype(), true);
  return true;
}

static void bind_default_device(py::module_& m) {
  op<&set_default_device>(m, "_set_default_device(device)", As::function);
  py::object device = m.attr("device");
  device.attr("__enter__") = py::cpp_function(
      [](py::object self) {
        enter_device(self.cast<Device>());
        return self;
      },
      py::is_method(device),
      "Inside the block new tensors are made on this device if none is named.");
  device.attr("__exit__") = py::cpp_function(
      [](const py::object&, const py::args&) { leave_device(); }, py::is_method(device));
  op<&default_device>(m, "get_default_device()", As::function,
                      R"(Where new tensors are made if no device is named.

>>> torch.get_default_device()
device(type='cpu'))");
}

void bind_creation(py::module_& m) {
  bind_default_device(m);
  constexpr auto kOnly = As::function;
  op<&tensor>(m, "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)",
              kOnly,
              R"(A new tensor with a copy of `data`.

Args:
    data: a number, nested sequences of numbers, a NumPy array or a tensor.
    dtype: the element type; by default bool, int64 or the default float type, as the data say.
    device: where to put it; the CPU by default.
    requires_grad: record operations on it.
    pin_memory: use pinned memory, which only matters with GPUs.

Raises:
    ValueError: if nested sequences differ in length.

>>> torch.tensor([[1, 2], [3, 4]])
tensor([[1, 2],
        [3, 4]]))");
  op<&as_tensor_op>(m, "as_tensor(data, dtype=None, device=None)", kOnly,
                    R"(`data` as a tensor, without a copy where none is needed.

Args:
    data: what torch.tensor takes.
    dtype: the element type; that of the data by default.
    device: where to put it.

>>> torch.as_tensor([1.5, 2.0])
tensor([1.5000, 2.0000]))");
  publish_alias(m, kOnly, "as_tensor", "asarray");
  op<&empty_op>(m,
                "empty(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
                "pin_memory=False, memory_format=None)",
                kOnly, R"(A tensor of shape `size` whose elements are not set.

>>> torch.empty(2, 3).shape
torch.Size([2, 3]))");
  op<&zeros_op>(m,
                "zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
                "pin_memory=False)",
                kOnly,
                R"(A tensor of shape `size` full of 0.

>>> torch.zeros(2, 2)
tensor([[0., 0.],
        [0., 0.]]))");
  op<&ones_op>(m,
               "ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
               "pin_memory=False)",
               kOnly,
               R"(A tensor of shape `size` full of 1.

>>> torch.ones(3)
tensor([1., 1., 1.]))");
  op<&full_op>(m,
               "full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=False)",
               kOnly,
               R"(A tensor of shape `size` full of `fill_value`, whose kind gives the dtype.

>>> torch.full((2,), 7)
tensor([7, 7]))");
  op<&empty_like_op>(m,
                     "empty_like(input, *, dtype=None, layout=None, device=None, "
                     "requires_grad=False, pin_memory=False, memory_format=None)",
                     kOnly,
                     "A tensor of input's shape whose elements are not set.\n\n>>> "
                     "torch.empty_like(torch.zeros(2)).shape\ntorch.Size([2])");
  op<&zeros_like_op>(
      m,
      "zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False, memory_format=None)",
      kOnly, "Zeros of input's shape.\n\n>>> torch.zeros_like(torch.ones(2))\ntensor([0., 0.])");
  op<&ones_like_op>(
      m,
      "ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False, memory_format=None)",
      kOnly, "Ones of input's shape.\n\n>>> torch.ones_like(torch.zeros(2))\ntensor([1., 1.])");
  op<&full_like_op>(m,
                    "full_like(input, fill_value, *, dtype=None, layout=None, device=None, "
                    "requires_grad=False, pin_memory=False, memory_format=None)",
                    kOnly,
                    "A tensor of input's shape full of fill_value.\n\n>>> "
                    "torch.full_like(torch.zeros(2), 3)\ntensor([3., 3.])");
  op<&new_empty>(m, "new_empty(self, *size, dtype=None, device=None, requires_grad=False)",
                 As::method,
                 "An unset tensor of self's dtype and device.\n\n>>> torch.ones(1).new_empty(2, "
                 "3).shape\ntorch.Size([2, 3])");
  op<&new_zeros>(
      m, "new_zeros(self, *size, dtype=None, device=None, requires_grad=False)", As::method,
      "Zeros of self's dtype and device.\n\n>>> torch.ones(1).new_zeros(2)\ntensor([0., 0.])");
  op<&new_ones>(
      m, "new_ones(self, *size, dtype=None, device=None, requires_grad=False)", As::method,
      "Ones of self's dtype and device.\n\n>>> torch.zeros(1).new_ones(2)\ntensor([1., 1.])");
  op<&new_full>(m,
                "new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False)",
                As::method,
                "A tensor of self's dtype and device, full of fill_value.\n\n>>> "
                "torch.zeros(1).new_full((2,), 5)\ntensor([5., 5.])");
  op<&new_tensor>(m, "new_tensor(self, data, *, dtype=None, device=None, requires_grad=False)",
                  As::method,
                  "A copy of data, of self's dtype and device.\n\n>>> "
                  "torch.zeros(1).new_tensor([1, 2])\ntensor([1., 2.])");
  overloads<&arange_end, &arange_range>(
      m,
      {"arange(end, *, out=None, dtype=None, layout=None, device=None, "
       "requires_grad=False, pin_memory=False)",
       "arange(start, end, step=1, *, out=None, dtype=None, layout=None, "
       "device=None, requires_grad=False, pin_memory=False)"},
      kOnly,
      R"(start, start + step, ... up to but not including end.

>>> torch.arange(1, 10, 3)
tensor([1, 4, 7]))");
  op<&linspace_op>(m,
                   "linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, "
                   "requires_grad=False, pin_memory=False)",
                   kOnly,
                   "`steps` values at equal distances from start to end, both included.\n\n>>> "
                   "torch.linspace(0, 1, 5)\ntensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])");
  op<&logspace_op>(m,
                   "logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, "
                   "device=None, requires_grad=False, pin_memory=False)",
                   kOnly,
                   "base to the powers of linspace(start, end, steps).\n\n>>> torch.logspace(0, 2, "
                   "3)\ntensor([  1.,  10., 100.])");
  op<&eye_op>(
      m,
      "eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      kOnly,
      "The identity matrix, n by m.\n\n>>> torch.eye(2)\ntensor([[1., 0.],\n        [0., 1.]])");
  op<&empty_strided_op>(
      m, "empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False)", kOnly,
      "An unset tensor of the given size and strides.\n\n>>> torch.empty_strided((2, 3), (1, "
      "2)).stride()\n(1, 2)");
  op<&scalar_tensor_op>(
      m,
      "scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, "
      "pin_memory=False)",
      kOnly, "A 0-d tensor of the default dtype.\n\n>>> torch.scalar_tensor(3)\ntensor(3.)");
  op<&deliver_op>(m, "_deliver(op, out, result)", kOnly,
                  "Writes a result to out, as out= of the ops does.");
  m.def(
      "_make_subclass",
      [](py::type type, const Tensor& data, bool requires_grad) {
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), tensor_type))
          fail<TypeError>("cls must be a subclass of Tensor");
        if (requires_grad && !is_floating(data.dtype()))
          fail<RuntimeError>(
              "Only Tensors of floating point and complex dtype can require gradients");
        Tensor t = alias(data);
        t->requires_grad = requires_grad;
        return py::reinterpret_steal<py::object>(
            wrap_as(reinterpret_cast<PyTypeObject*>(type.ptr()), std::move(t)));
      },
      py::arg("cls"), py::arg("data"), py::arg("require_grad") = false);
  const py::handle type(reinterpret_cast<PyObject*>(tensor_type));
  py::setattr(
      type, "_make_subclass",
      py::reinterpret_steal<py::object>(PyStaticMethod_New(m.attr("_make_subclass").ptr())));
  py::setattr(type, "__array_priority__", py::int_(1000));  // of NumPy's operators
  m.def(
      "_disabled_torch_function_impl",
      [](const py::args&, const py::kwargs&) {
        PyErr_SetString(PyExc_NotImplementedError, "only the name of this function counts");
        throw py::error_already_set();
      },
      "What a subclass names as its __torch_function__ so that results are plain tensors.");
  m.def("_register_parameter_type", [](py::type type) {
    parameter_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  });
}

}  // namespace rushlight::python
