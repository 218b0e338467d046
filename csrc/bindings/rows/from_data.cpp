// Tensors made of Python's data, torch.Tensor(...), the default device, and subclasses of Tensor.
#include <pybind11/pybind11.h>

#include "bindings/data.h"
#include "bindings/module.h"
#include "bindings/new_memory.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"
#include "core/backend.h"
#include "ops/default_device.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Dt = const std::optional<DType>&;
using Dv = const std::optional<Device>&;

// A sparse tensor is given and copied in Python.
py::object taken_sparse(py::handle x, Dt dtype, Dv device, bool copy, bool requires_grad) {
  const auto python = [](const auto& given) {
    return given ? py::reinterpret_steal<py::object>(to_python(*given)) : py::object(py::none());
  };
  return py::module_::import("rushlight._sparse.conversion")
      .attr("taken")(x, python(dtype), python(device), copy, requires_grad);
}

py::object tensor(py::handle data, Dt dtype, Dv device, bool requires_grad, bool pin_memory) {
  const Options o = Options{dtype, device, requires_grad, pin_memory};
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
    if ((*t)->sparse) return taken_sparse(data, dtype, device, true, requires_grad);
    out = to(*t, dtype.value_or(t->dtype()), device ? resolve(*device) : t->device(), true);
  } else {
    out = data_of(data.ptr(), dtype, true);
    out = to(out, device_of(o));
  }
  return py::reinterpret_steal<py::object>(wrap(finish(std::move(out), o)));
}

// No copy where nothing has to change.
Tensor as_tensor_op(py::handle data, Dt dtype, Dv device) {
  if (const Tensor* t = as_tensor(data.ptr())) {
    if ((*t)->sparse) return *as_tensor(taken_sparse(data, dtype, device, false, false).ptr());
    return to(*t, dtype.value_or(t->dtype()), device ? resolve(*device) : t->device());
  }
  Tensor out = data_of(data.ptr(), dtype, false);
  return to(out, dtype.value_or(out.dtype()), device ? resolve(*device) : default_device());
}

// The tensor on the memory that an object lends, by DLPack or by Python's buffers; else undefined.
Tensor lent(py::handle obj, Dt dtype) {
  if (PyCapsule_CheckExact(obj.ptr()))
    return returned_tensor(
        "from_dlpack",
        py::module_::import("rushlight.utils.dlpack").attr("from_dlpack")(obj).ptr());
  if (!PyObject_CheckBuffer(obj.ptr())) return {};
  const auto made =
      py::module_::import("rushlight")
          .attr("frombuffer")(obj, py::arg("dtype") = py::reinterpret_steal<py::object>(
                                       to_python(dtype.value_or(default_dtype()))));
  return returned_tensor("frombuffer", made.ptr());
}

Tensor asarray(py::handle obj, Dt dtype, Dv device, std::optional<bool> copy,
               std::optional<bool> requires_grad) {
  const bool alias = copy == false;
  const bool is_known = as_tensor(obj.ptr()) || is_array(obj.ptr());
  const Tensor borrowed = is_known ? Tensor() : lent(obj, dtype);
  const Tensor* const given = borrowed ? &borrowed : as_tensor(obj.ptr());
  const bool stored = !given && is_storage(obj.ptr());
  if (alias && !given && !stored && !is_array(obj.ptr()))
    fail<ValueError>("can't alias arbitrary sequence into a tensor.");
  const Dt of_data = alias && !stored ? std::nullopt : dtype;
  Tensor t = given ? *given : data_of(obj.ptr(), of_data, copy == true);
  const Device d = device ? resolve(*device) : given || stored ? t.device() : default_device();
  if (alias && d != t.device())
    fail<ValueError>("can't alias tensor from device '", t.device(), "' to '", d, "'.");
  if (alias && dtype && *dtype != t.dtype())
    fail<ValueError>("can't alias tensor with dtype '", scalar_name(t.dtype()), "' into dtype '",
                     scalar_name(*dtype), "'.");
  t = to(t, dtype.value_or(t.dtype()), d, given && copy == true);
  if (!requires_grad || t.requires_grad() == *requires_grad) return t;
  return *requires_grad ? finish(std::move(t), true) : detach(t);
}

Tensor new_tensor(const Tensor& self, py::handle data, Dt dtype, Dv device, bool requires_grad) {
  const Options o = Options{dtype, device, requires_grad, false};
  const GradMode off(false);
  const Tensor* t = as_tensor(data.ptr());
  const DType type = dtype.value_or(self.dtype());
  const Tensor out = t ? clone(*t) : data_of(data.ptr(), type, true);
  return finish(to(out, type, device ? resolve(*device) : self.device()), o);
}

Tensor deliver_op(std::string_view op, const Tensor& out, const Tensor& result) {
  return deliver(std::string(op).c_str(), out, result);
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
    out = settled(empty(size, default_dtype()));
    return true;
  }
  if (const Tensor* t = as_tensor(first)) {
    out = alias(*t);
    return true;
  }
  if (PyTuple_Check(first) && !PyTuple_CheckExact(first) && Argument<Shape>::read(first, size)) {
    out = settled(empty(size, default_dtype()));  // torch.Size
    return true;
  }
  if (!is_array(first) && !PySequence_Check(first))
    fail<TypeError>("new(): data must be a sequence (got ", Py_TYPE(first)->tp_name, ")");
  out = data_of(first, default_dtype(), !is_storage(first));  // which it shows
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
  op<&named_default_device>(m, "get_default_device()", As::function,
                            R"(The device of new tensors for which none is given.

>>> torch.get_default_device()
device(type='cpu'))");
}

void bind_from_data(py::module_& m) {
  constexpr auto kOnly = As::function;
  bind_default_device(m);
  op<&tensor>(m, "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)",
              stored(kOnly),
              R"(A new tensor with a copy of `data`.

Args:
    data: a scalar, nested sequences of scalars, a NumPy array or a tensor.
    dtype: the dtype of the result; None for bool, int64 or the default float dtype, as data says.

Shape:
    that of the nested sequences; () for a scalar.

Raises:
    ValueError: if nested sequences differ in length.

>>> torch.tensor([[1, 2], [3, 4]])
tensor([[1, 2],
        [3, 4]]))");
  op<&as_tensor_op>(m, "as_tensor(data, dtype=None, device=None)", stored(kOnly),
                    R"(`data` as a tensor, without a copy where none is needed.

Args:
    data: what torch.tensor takes.
    dtype: the dtype of the result; None for that of data.
    device: the device of the result; None for that of data, else the default device.

Shape:
    that of data.

>>> torch.as_tensor([1.5, 2.0])
tensor([1.5000, 2.0000]))");
  op<&asarray>(m, "asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None)",
               stored(kOnly),
               R"(`obj` as a tensor, without a copy where none is needed or allowed.

Args:
    obj: what torch.tensor takes.
    dtype: the dtype of the result; None for that of obj.
    device: the device of the result; None for that of obj, else the default device.
    copy: True always copies, False never; None copies where that is needed.
    requires_grad: False detaches from a tensor's history; None keeps it.

Shape:
    that of obj.

Raises:
    ValueError: for copy=False if a copy is needed.

>>> x = torch.ones(2)
>>> torch.asarray(x) is x, torch.asarray(x, copy=True) is x
(True, False))");
  op<&new_tensor>(m, "new_tensor(self, data, *, dtype=None, device=None, requires_grad=False)",
                  stored(As::method),
                  R"(A copy of `data`, with self's dtype and device.

Args:
    data: what torch.tensor takes.

Shape:
    that of data.

>>> torch.zeros(1).new_tensor([1, 2])
tensor([1., 2.]))");
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
        if (data->sparse)
          fail<NotImplementedError>(
              "a sparse tensor is of no subclass of Tensor in rushlight, and no Parameter\n"
              "its class is that of its layout: keep it as an attribute of an object of the class; "
              "x.requires_grad_() makes a leaf of it, register_buffer() makes it a module's");
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
  m.def("_register_parameter_type", [](py::type type) {
    if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), tensor_type))
      fail<TypeError>("cls must be a subclass of Tensor");
    parameter_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  });
}

}  // namespace rushlight::python
