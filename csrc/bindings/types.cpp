// The small Python types: dtype, Size, layout and memory_format.
#include <pybind11/operators.h>

#include "bindings/formats.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "core/backend.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct Dtype {
  DType value;
};
// Names that only have to be themselves: torch.strided, torch.contiguous_format.
template <int Kind>
struct Symbol {
  std::string name;
};
using LayoutSymbol = Symbol<0>;
using FormatSymbol = Symbol<1>;

PyTypeObject* size_type;  // class Size(tuple)

PyObject* size_repr(PyObject* self) {
  PyObject* list = PySequence_List(self);
  PyObject* text = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : nullptr;
  Py_XDECREF(list);
  return text;
}
PyObject* as_size(PyObject* tuple) {  // steals `tuple`
  if (!tuple) return nullptr;
  PyObject* size = PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), tuple);
  Py_DECREF(tuple);
  return size;
}
PyObject* size_subscript(PyObject* self, PyObject* key) {
  PyObject* item = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(item) : item;
}
PyObject* size_concat(PyObject* self, PyObject* other) {
  if (PyTuple_Check(other)) return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
  PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size",
               Py_TYPE(other)->tp_name);
  return nullptr;
}
// As a number's slot it is asked for the right operand too: (2,) + size.
PyObject* size_add(PyObject* left, PyObject* right) {
  if (!PyTuple_Check(left) || !PyTuple_Check(right)) Py_RETURN_NOTIMPLEMENTED;
  return size_concat(left, right);
}
PyObject* size_repeat(PyObject* self, Py_ssize_t times) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, times));
}
PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* self = PyTuple_Type.tp_new(type, args, kwargs);
  for (Py_ssize_t i = 0; self && i < PyTuple_GET_SIZE(self); ++i) {
    PyObject* item = PyTuple_GET_ITEM(self, i);
    std::int64_t value;
    if (PyLong_CheckExact(item)) continue;
    if (!read_index(item, value)) {
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   Py_TYPE(item)->tp_name);
      Py_DECREF(self);
      return nullptr;
    }
    PyTuple_SET_ITEM(self, i, PyLong_FromLongLong(value));
    Py_DECREF(item);
  }
  return self;
}
PyObject* size_numel(PyObject* self, PyObject*) {
  try {
    std::int64_t n = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i)
      n = checked_mul(n, PyLong_AsLongLong(PyTuple_GET_ITEM(self, i)));
    return PyErr_Occurred() ? nullptr : to_python(n);
  } catch (...) {
    return raise_current();
  }
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  PyObject* values = PySequence_Tuple(self);
  PyObject* plain = values ? PyTuple_GetSlice(values, 0, PyTuple_GET_SIZE(values)) : nullptr;
  Py_XDECREF(values);
  if (!plain) return nullptr;
  PyObject* list = PySequence_List(plain);  // a fresh, plain tuple whatever the subclass
  Py_DECREF(plain);
  PyObject* tuple = list ? PyList_AsTuple(list) : nullptr;
  Py_XDECREF(list);
  return tuple ? Py_BuildValue("(O(N))", size_type, tuple) : nullptr;
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "The product of the sizes."},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

constexpr const char* kSizeDoc = R"(The sizes of a tensor's dimensions: a tuple of ints.

Args:
    iterable: the sizes.

    >>> torch.ones(2, 3).shape
    torch.Size([2, 3])
    >>> torch.ones(2, 3).shape.numel()
    6
)";

void bind_size(py::module_& m) {
  using Slot = void*;
  static PyType_Slot slots[] = {{Py_tp_new, Slot(size_new)},
                                {Py_tp_repr, Slot(size_repr)},
                                {Py_tp_str, Slot(size_repr)},
                                {Py_mp_subscript, Slot(size_subscript)},
                                {Py_sq_concat, Slot(size_concat)},
                                {Py_sq_repeat, Slot(size_repeat)},
                                {Py_nb_add, Slot(size_add)},
                                {Py_tp_methods, size_methods},
                                {Py_tp_base, &PyTuple_Type},
                                {Py_tp_doc, Slot(const_cast<char*>(kSizeDoc))},
                                {0, nullptr}};
  static PyType_Spec spec = {"rushlight.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             slots};
  size_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!size_type) throw py::error_already_set();
  m.add_object("Size", reinterpret_cast<PyObject*>(size_type));
}

PyObject* dtype_texts[kStoredDTypes];  // torch.float32, ...
PyObject* dtype_repr(PyObject* self) {
  int i = 0;
  while (i < kStoredDTypes && self != dtype_objects[i]) ++i;
  if (i < kStoredDTypes) return Py_NewRef(dtype_texts[i]);
  PyErr_SetString(PyExc_TypeError, "a dtype that is none of torch's");
  return nullptr;
}

void bind_dtype(py::module_& m) {
  py::class_<Dtype> c(m, "dtype", R"(The type of a tensor's elements, such as torch.float32.

    >>> torch.ones(2).dtype, torch.float16.itemsize, torch.int64.is_floating_point
    (torch.float32, 2, False)
)");
  c.attr("__module__") = "rushlight";
  c.def("__repr__", [](const Dtype& d) { return text(d.value); })
      .def("__reduce__", [](const Dtype& d) { return dtype_name(d.value); })
      .def("__deepcopy__", [](py::object self, py::object) { return self; })
      .def("__copy__", [](py::object self) { return self; })
      .def_property_readonly("is_floating_point",
                             [](const Dtype& d) { return is_floating(d.value); })
      .def_property_readonly("is_complex", [](const Dtype& d) { return is_complex(d.value); })
      .def_property_readonly("is_signed", [](const Dtype& d) { return is_signed(d.value); })
      .def_property_readonly("itemsize", [](const Dtype& d) { return item_size(d.value); })
      .def("to_real",
           [](const Dtype& d) {
             return py::reinterpret_borrow<py::object>(dtype_objects[int(real_of(d.value))]);
           })
      .def("to_complex", [](const Dtype& d) {
        if (is_integral(d.value) || (is_floating(d.value) && is_only_stored(d.value)))
          fail<RuntimeError>("Unknown Complex ScalarType for ", scalar_name(d.value));
        return py::reinterpret_borrow<py::object>(dtype_objects[int(complex_of(d.value))]);
      });
  for (int i = 0; i < kStoredDTypes; ++i) {
    py::object d = py::cast(Dtype{DType(i)});
    m.attr(dtype_name(DType(i))) = d;
    dtype_objects[i] = d.release().ptr();
    dtype_texts[i] = to_python(text(DType(i)));
  }
  reinterpret_cast<PyTypeObject*>(c.ptr())->tp_repr = dtype_repr;  // without pybind11's dispatch
  const std::pair<const char*, DType> aliases[] = {
      {"half", DType::float16},    {"float", DType::float32},    {"double", DType::float64},
      {"short", DType::int16},     {"int", DType::int32},        {"long", DType::int64},
      {"chalf", DType::complex32}, {"cfloat", DType::complex64}, {"cdouble", DType::complex128}};
  for (auto [name, d] : aliases) m.attr(name) = py::handle(dtype_objects[int(d)]);
  m.def(
      "get_default_dtype",
      [] { return py::reinterpret_borrow<py::object>(dtype_objects[int(default_dtype())]); },
      R"(The dtype of tensors made from floats.

    >>> torch.get_default_dtype()
    torch.float32
)");
  m.def(
      "promote_types",
      [](py::object a, py::object b) {
        DType x, y;
        if (!Argument<DType>::read(a.ptr(), x) || !Argument<DType>::read(b.ptr(), y))
          fail<TypeError>("promote_types(): both arguments must be torch.dtype");
        return py::reinterpret_borrow<py::object>(dtype_objects[int(promote_types(x, y))]);
      },
      py::arg("type1"), py::arg("type2"),
      R"(The smallest dtype that holds what both hold; floating wins over integers.

    >>> torch.promote_types(torch.int32, torch.float16)
    torch.float16
)");
  m.def(
      "can_cast",
      [](py::object a, py::object b) {
        DType x, y;
        if (!Argument<DType>::read(a.ptr(), x) || !Argument<DType>::read(b.ptr(), y))
          fail<TypeError>("can_cast(): both arguments must be torch.dtype");
        return can_cast(x, y);
      },
      py::arg("from_"), py::arg("to"),
      R"(Whether a result of one dtype may be written into a tensor of another.

    >>> torch.can_cast(torch.int32, torch.float32), torch.can_cast(torch.float32, torch.int32)
    (True, False)
)");
  m.def("_set_default_dtype", [](py::object d) {
    DType value;
    if (!Argument<DType>::read(d.ptr(), value) || !py::isinstance<Dtype>(d))
      fail<TypeError>(
          "invalid dtype object: only floating-point types are supported as the default type");
    set_default_dtype(value);
  });
}

template <class S>
void bind_symbols(py::module_& m, const char* type, std::initializer_list<const char*> names,
                  PyObject** objects, const char* doc) {
  py::class_<S> c(m, type, doc);
  c.attr("__module__") = "rushlight";
  c.def("__repr__", [](const S& s) { return "torch." + s.name; });
  c.def("__reduce__", [](const S& s) { return s.name; });
  for (const char* name : names) {
    py::object made = py::cast(S{name});
    m.attr(name) = made;
    *objects++ = made.release().ptr();
  }
}

}  // namespace

PyObject* to_python(const Shape& shape) {
  PyObject* size = size_type->tp_alloc(size_type, shape.rank);
  for (int d = 0; size && d < shape.rank; ++d)
    PyTuple_SET_ITEM(size, d, PyLong_FromLongLong(shape[d]));
  return size;
}

void bind_types(py::module_& m) {
  bind_size(m);
  bind_dtype(m);
  bind_device(m);
  bind_symbols<LayoutSymbol>(m, "layout", {"strided"}, &strided_object,
                             R"(How elements are stored: torch.strided, torch.sparse_coo, ...

    >>> torch.ones(2).layout
    torch.strided
)");
  bind_symbols<FormatSymbol>(
      m, "memory_format",
      {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"},
      memory_format_objects, R"(The order of the dimensions in memory: torch.channels_last, ...

    >>> torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
    (60, 1, 15, 3)
)");
}

}  // namespace rushlight::python
