// torch.device: one Python object for each device, made when it is first named and kept, so that
// x.device is a lookup and equality an address.
#include <cstddef>
#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct DeviceObject {
  PyObject_HEAD Device value;
  PyObject *text, *type;  // "cuda:1" and "cuda"
};
PyTypeObject* device_type;

constexpr int kTypes = int(DeviceType::privateuseone) + 1, kIndices = 129;  // none, 0 to 127
PyObject* kept_devices[kTypes][kIndices];

DeviceObject& object_of(PyObject* o) { return *reinterpret_cast<DeviceObject*>(o); }

PyObject* new_object(Device d) {
  PyObject* made = device_type->tp_alloc(device_type, 0);
  if (!made) return nullptr;
  object_of(made).value = d;
  object_of(made).text = to_python(text(d));
  object_of(made).type = PyUnicode_InternFromString(device_type_name(d.type));
  if (object_of(made).text && object_of(made).type) return made;
  Py_DECREF(made);
  return nullptr;
}
void device_dealloc(PyObject* self) {  // only of one that could not be made
  Py_XDECREF(object_of(self).text);
  Py_XDECREF(object_of(self).type);
  device_type->tp_free(self);
  Py_DECREF(device_type);
}

// device("cuda", 1), device("cuda:1"), device(1), device(other), device(type="cuda", index=1)
Device device_of(PyObject* type, PyObject* index) {
  Device d;
  if (!Argument<Device>::read(type, d)) {
    if (PyLong_Check(type)) fail<RuntimeError>("Device index must not be negative");
    fail<TypeError>("device(): argument 'type' must be str, int or torch.device, not ",
                    Py_TYPE(type)->tp_name);
  }
  if (index == Py_None) return d;
  std::int64_t i;
  if (!Argument<std::int64_t>::read(index, i))
    fail<TypeError>("device(): argument 'index' must be int, not ", Py_TYPE(index)->tp_name);
  if (d.index >= 0)
    fail<RuntimeError>(
        "type (string) must not include an index because index was passed explicitly: ", d);
  if (i < 0) fail<RuntimeError>("Device index must not be negative");
  if (i > 127) fail<RuntimeError>("Device index must be below 128, got ", i);
  d.index = std::int8_t(i);
  return d;
}
PyObject* device_named(PyObject* type, PyObject* index) {
  try {
    return to_python(device_of(type, index));
  } catch (...) {
    return raise_current();
  }
}
PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"type", "index", nullptr};
  PyObject *type, *index = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:device", const_cast<char**>(names), &type,
                                   &index))
    return nullptr;
  return device_named(type, index);
}
// device("cuda"), without the tuple of arguments.
PyObject* device_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(flags);
  if (n == 1 && !names) return device_named(args[0], Py_None);
  const auto tuple = py::reinterpret_steal<py::object>(PyTuple_New(n));
  const auto keywords = py::reinterpret_steal<py::object>(PyDict_New());
  if (!tuple || !keywords) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.ptr(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(keywords.ptr(), PyTuple_GET_ITEM(names, i), args[n + i]) != 0)
      return nullptr;
  return device_new(reinterpret_cast<PyTypeObject*>(self), tuple.ptr(), keywords.ptr());
}

PyObject* device_str(PyObject* self) { return Py_NewRef(object_of(self).text); }
PyObject* device_repr(PyObject* self) {
  const DeviceObject& d = object_of(self);
  return d.value.index < 0
             ? PyUnicode_FromFormat("device(type='%U')", d.type)
             : PyUnicode_FromFormat("device(type='%U', index=%d)", d.type, int(d.value.index));
}
PyObject* device_compare(PyObject* a, PyObject* b, int operation) {
  if (Py_TYPE(b) != device_type || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return to_python((a == b) == (operation == Py_EQ));
}
Py_hash_t device_hash(PyObject* self) {
  const Device d = object_of(self).value;
  return int(d.type) * 256 + d.index + 1;
}
PyObject* device_kind(PyObject* self, void*) { return Py_NewRef(object_of(self).type); }
PyObject* device_index(PyObject* self, void*) {
  const int i = object_of(self).value.index;
  if (i < 0) Py_RETURN_NONE;
  return PyLong_FromLong(i);
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  const DeviceObject& d = object_of(self);
  if (d.value.index < 0) return Py_BuildValue("(O(O))", device_type, d.type);
  return Py_BuildValue("(O(Oi))", device_type, d.type, int(d.value.index));
}
PyObject* device_itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyGetSetDef device_properties[] = {
    {"type", device_kind, nullptr, "The kind of device: 'cpu', 'cuda', ...", nullptr},
    {"index", device_index, nullptr, "Which of that kind; None where it is not said.", nullptr},
    {}};
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                {"__copy__", device_itself, METH_NOARGS, nullptr},
                                {"__deepcopy__", device_itself, METH_O, nullptr},
                                {}};

constexpr const char* kDoc = R"(device(type, index=None)
--

Where a tensor lives: the CPU, or a GPU by its index.

torch's other types ('mps', 'xpu', 'hpu', ...) are names: comparable, and no tensor is made there.

Args:
    type: 'cpu', 'cuda', 'cuda:1', 'meta', ... or another device
    index: which GPU, where the type does not say

Raises:
    RuntimeError: if torch knows no such type.

    >>> torch.device("cuda:1").index
    1
    >>> torch.device("cuda", 1) == torch.device("cuda:1")
    True
)";

}  // namespace

PyObject* to_python(Device d) {
  PyObject*& kept = kept_devices[int(d.type)][d.index + 1];
  if (!kept) [[unlikely]]
    kept = new_object(d);
  return Py_XNewRef(kept);
}
bool read_device(PyObject* o, Device& d) {
  if (Py_TYPE(o) != device_type) return false;
  d = object_of(o).value;
  return true;
}

bool Argument<Device>::read(PyObject* o, Device& s) {
  if (read_device(o, s)) return true;
  std::string_view text;
  if (Argument<std::string_view>::read(o, text)) {
    s = parse_device(text);
    return true;
  }
  std::int64_t index;
  if (as_tensor(o) || !Argument<std::int64_t>::read(o, index)) return false;
  if (index < 0) fail<RuntimeError>("Device index must not be negative, got ", index);
  if (index > 127) fail<RuntimeError>("Device index must be below 128, got ", index);
  s = {DeviceType::cuda, std::int8_t(index)};
  return true;
}

void bind_device(py::module_& m) {
  using Slot = void*;
  static PyType_Slot slots[] = {{Py_tp_new, Slot(device_new)},
                                {Py_tp_dealloc, Slot(device_dealloc)},
                                {Py_tp_str, Slot(device_str)},
                                {Py_tp_repr, Slot(device_repr)},
                                {Py_tp_richcompare, Slot(device_compare)},
                                {Py_tp_hash, Slot(device_hash)},
                                {Py_tp_getset, device_properties},
                                {Py_tp_methods, device_methods},
                                {Py_tp_doc, Slot(const_cast<char*>(kDoc))},
                                {0, nullptr}};
  static PyType_Spec spec = {"rushlight.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT,
                             slots};
  device_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!device_type) throw py::error_already_set();
  device_type->tp_vectorcall = device_call;
  m.add_object("device", reinterpret_cast<PyObject*>(device_type));
}

}  // namespace rushlight::python
