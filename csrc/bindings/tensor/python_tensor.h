// The Python type of Tensor, written by hand because every eager op passes here twice.
//
// Ownership: the Python object owns the body, never the reverse. A body has a borrowed reference to
// its object, so `t.grad is t.grad`. An object that is freed before its body leaves its class and
// attributes there, and the next one is made from them: a Parameter kept only by C++ stays a
// Parameter. All of this happens under the GIL, or at the last release of the body.
//
// Garbage collection: the type takes part, but a plain tensor is tracked only once it gets a
// __dict__ (or is of a Python subclass): before that it cannot be in a cycle.
#pragma once
#include <pybind11/cast.h>
#include <vector>

#include "autograd/node.h"

// pybind11/pybind11.h makes each file that includes it compile the whole of its machinery (4 s):
// only those do that define functions or classes with it.
namespace pybind11 {
class module_;
}

namespace rushlight::python {

pybind11::object node_object(Node& n);  // what grad_fn gives: of a class named as the operation

struct Object {
  PyObject_HEAD Tensor value;
  PyObject* attributes;  // __dict__, made on first use
  PyObject* weak_refs;
  PyObject*
      shape;  // the last torch.Size that was returned; the body's shape may have changed since
};

inline PyTypeObject* tensor_type;  // Tensor itself; a heap type, so Python can add methods to it
inline PyTypeObject* parameter_type;  // the one subclass every hot path meets

inline const Tensor* as_tensor(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  const bool is =
      type == tensor_type || type == parameter_type || PyType_IsSubtype(type, tensor_type);
  return is ? &reinterpret_cast<Object*>(o)->value : nullptr;
}

// What a function in Python returned, which may be a program's own: TypeError if it is no tensor.
const Tensor& returned_tensor(std::string_view function, PyObject* o);

// Free list of plain Tensor objects; the GIL protects it.
class ObjectCache {
 public:
  static Object* take() {
    if (!head_) return PyObject_GC_New(Object, tensor_type);
    --count_;
    Object* o = std::exchange(head_, reinterpret_cast<Object*>(head_->attributes));
    PyObject_Init(reinterpret_cast<PyObject*>(o), tensor_type);
    return o;
  }
  static bool give(Object* o) {
    if (count_ >= kKeep) return false;
    ++count_;
    o->attributes = reinterpret_cast<PyObject*>(std::exchange(head_, o));
    return true;
  }

 private:
  static constexpr int kKeep = kSanitized ? 0 : 256;
  static inline Object* head_ = nullptr;
  static inline int count_ = 0;
};

PyObject* wrap_again(Tensor t);  // the rare paths: the body has an object, or had one

inline PyObject* wrap(Tensor t) {
  Body* body = t.body();
  if (!body) Py_RETURN_NONE;
  if (body->python || body->left_behind) [[unlikely]]
    return wrap_again(std::move(t));
  Object* o = ObjectCache::take();
  if (!o) return nullptr;
  new (&o->value) Tensor(std::move(t));
  o->attributes = o->weak_refs = o->shape = nullptr;
  return body->python = reinterpret_cast<PyObject*>(o);
}
// As an object of a subclass, whatever it was before.
PyObject* wrap_as(PyTypeObject* type, Tensor t);

// Whether there has been an instance of another subclass: their operations give instances of it
// (subclass.cpp).
inline bool has_subclasses = false;
PyObject* in_class_of(PyObject* result, PyObject* self, PyObject* const* args, Py_ssize_t n);
// After an error of a function: what its arguments' class with data elsewhere has as the method of
// that name, or the refusal of that class; null where the error stays.
PyObject* answer_of_class(const char* name, PyObject* const* args, Py_ssize_t n,
                          PyObject* keywords);
inline PyObject* kept_class(PyObject* result, PyObject* self, PyObject* const* args = nullptr,
                            Py_ssize_t n = 0) {
  return has_subclasses ? in_class_of(result, self, args, n) : result;
}

PyObject* to_python(Device d);  // torch.device: device.cpp
bool read_device(PyObject* o, Device& d);  // of that class alone

// The cycle collector must see a tensor that keeps Python objects alive through hooks or a node.
void track(const Tensor& t);

void make_tensor_type(pybind11::module_& m);
std::vector<PyGetSetDef> tensor_getters();  // tensor_getters.cpp
std::vector<PyType_Slot> operator_slots();  // operators.cpp
std::vector<PyType_Slot> indexing_slots();  // indexing.cpp
bool legacy_tensor(PyObject* args, PyObject* kwargs, Tensor& out);  // rows/from_data.cpp

}  // namespace rushlight::python

// pybind11 functions take and return Tensor as well: rare functions need nothing else.
namespace pybind11::detail {
template <>
struct type_caster<rushlight::Tensor> {
  PYBIND11_TYPE_CASTER(rushlight::Tensor, const_name("Tensor"));
  bool load(handle h, bool) {
    const rushlight::Tensor* t = rushlight::python::as_tensor(h.ptr());
    if (t) value = *t;
    return t != nullptr;
  }
  static handle cast(const rushlight::Tensor& t, return_value_policy, handle) {
    return rushlight::python::wrap(t);
  }
};
template <>
struct type_caster<rushlight::Device> {
  PYBIND11_TYPE_CASTER(rushlight::Device, const_name("device"));
  bool load(handle h, bool) { return rushlight::python::read_device(h.ptr(), value); }
  static handle cast(rushlight::Device d, return_value_policy, handle) {
    return rushlight::python::to_python(d);
  }
};
}  // namespace pybind11::detail

PYBIND11_DECLARE_HOLDER_TYPE(T, rushlight::Ref<T>)
