// The type object of Tensor: life cycle, identity, garbage collection. Attributes are in
// tensor_getters.cpp, operators in operators.cpp, ops in one file per family.
#include "python_tensor.h"

#include <pybind11/pybind11.h>
#include <structmember.h>

#include "bindings/autograd/hooks.h"
#include "bindings/gil.h"
#include "bindings/profile.h"
#include "bindings/stack.h"
#include "bindings/table/overrides.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {

static Object* object(PyObject* o) { return reinterpret_cast<Object*>(o); }

const Tensor& returned_tensor(std::string_view function, PyObject* o) {
  const Tensor* t = as_tensor(o);
  if (!t) fail<TypeError>(function, "() was to return a Tensor, not ", Py_TYPE(o)->tp_name);
  return *t;
}

// An instance of another class than Tensor and Parameter came into being.
static void note_class(PyTypeObject* type) {
  has_subclasses = true;
  if (override_of(type) == Override::own) start_overriding();
}

// An object of `type` that takes over `t`. Instances of Python subclasses are tracked from the
// start.
static PyObject* make(PyTypeObject* type, Tensor t, PyObject* attributes) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) {
    Py_XDECREF(attributes);
    return nullptr;
  }
  if (type == tensor_type && !attributes) PyObject_GC_UnTrack(self);
  if (type != tensor_type && type != parameter_type) note_class(type);
  t->python = self;
  new (&object(self)->value) Tensor(std::move(t));
  object(self)->attributes = attributes;
  return self;
}

PyObject* wrap_again(Tensor t) {
  if (t->python) return Py_NewRef(t->python);
  PyObject* state = std::exchange(t->left_behind, nullptr);
  PyObject* attributes = PyTuple_GET_ITEM(state, 1);
  PyObject* self = make(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(state, 0)), std::move(t),
                        attributes == Py_None ? nullptr : Py_NewRef(attributes));
  Py_DECREF(state);
  return self;
}

PyObject* wrap_as(PyTypeObject* type, Tensor t) {
  if (t->python || t->left_behind) t = alias(t);
  return make(type, std::move(t), nullptr);
}

void track(const Tensor& t) {
  PyObject* self = t->python;
  if (self && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
}

// Tensor(...): the legacy constructor, also of subclasses that define no __new__ of their own.
static PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  try {
    Tensor t;
    if (!has_stack() || !legacy_tensor(args, kwargs, t)) return nullptr;
    return make(type, std::move(t), nullptr);
  } catch (...) {
    return raise_current();
  }
}
// Subclasses call super().__init__ with whatever they like.
static int tensor_init(PyObject*, PyObject*, PyObject*) { return 0; }

static void tensor_dealloc(PyObject* self) {
  Object* o = object(self);
  PyTypeObject* type = Py_TYPE(self);
  if (PyObject_GC_IsTracked(self)) PyObject_GC_UnTrack(self);
  if (o->weak_refs) PyObject_ClearWeakRefs(self);
  if (Body* b = o->value.body()) {
    if (b->python == self) {
      b->python = nullptr;
      if ((o->attributes || type != tensor_type) && !b->is_unique())
        b->left_behind = PyTuple_Pack(2, type, o->attributes ? o->attributes : Py_None);
    }
  }
  Py_CLEAR(o->attributes);
  Py_CLEAR(o->shape);
  o->value.~Tensor();
  if (type != tensor_type || !ObjectCache::give(o)) type->tp_free(self);
  Py_DECREF(type);
}

// What `self` alone owns through its node: hooks, and a Function's ctx. As in torch, what others
// hold too is not looked at: they may be out of the collector's sight.
static Node* node_of(PyObject* self) {
  const Body* b = object(self)->value.body();
  return b && b->is_unique() && b->node && b->node->is_unique() ? b->node : nullptr;
}

static int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object(self)->attributes);
  const Node* node = node_of(self);
  return node ? visit_node(*node, visit, arg) : 0;
}

// What C++ still holds, such as a saved input, is left its attributes: see tensor_dealloc. A cycle
// through them is broken by their dict's own clear.
static int tensor_clear(PyObject* self) {
  Body* b = object(self)->value.body();
  if (node_of(self)) {
    b->requires_grad = false;
    take_node(*b);  // and let it go
  }
  if (!b || b->is_unique()) Py_CLEAR(object(self)->attributes);
  return 0;
}

static int tensor_setattr(PyObject* self, PyObject* name, PyObject* value) {
  const int failed = PyObject_GenericSetAttr(self, name, value);
  if (!Py_IS_TYPE(self, tensor_type) && !Py_IS_TYPE(self, parameter_type))
    note_class(Py_TYPE(self));  // it may be __class__ that was set
  if (object(self)->attributes && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  return failed;
}

static PyObject* get_dict(PyObject* self, void* closure) {
  PyObject* dict = PyObject_GenericGetDict(self, closure);
  if (dict && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  return dict;
}

static Py_hash_t tensor_hash(PyObject* self) { return Py_hash_t(self) >> 4; }  // by identity

static PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Object, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weak_refs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

static constexpr const char* kDoc = R"(Numbers of one dtype on one device, in up to 8 dimensions.

torch.tensor() makes one from data, torch.zeros() and its like from a shape.

    >>> x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([[2., 4.],
            [6., 8.]])
)";

void make_tensor_type(py::module_& m) {
  using Slot = void*;
  static std::vector<PyGetSetDef> getters = tensor_getters();
  const std::size_t properties = getters.size();
  getters.push_back({"__dict__", get_dict, PyObject_GenericSetDict, nullptr, nullptr});
  getters.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, Slot(tensor_new)},         {Py_tp_init, Slot(tensor_init)},
      {Py_tp_dealloc, Slot(tensor_dealloc)}, {Py_tp_traverse, Slot(tensor_traverse)},
      {Py_tp_clear, Slot(tensor_clear)},     {Py_tp_setattro, Slot(tensor_setattr)},
      {Py_tp_getset, getters.data()},        {Py_tp_members, members},
      {Py_tp_hash, Slot(tensor_hash)},       {Py_tp_doc, Slot(const_cast<char*>(kDoc))}};
  for (const PyType_Slot& s : operator_slots()) slots.push_back(s);
  for (const PyType_Slot& s : indexing_slots()) slots.push_back(s);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"rushlight.Tensor", sizeof(Object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw py::error_already_set();
  watch_getters({getters.data(), properties});
  tensor_type->tp_name = "Tensor";  // as messages say it; __module__ stays "rushlight"
  m.add_object("Tensor", reinterpret_cast<PyObject*>(tensor_type));
  release_python = [](_object* o) {  // called by the last release of a body, from any thread
    if (!Py_IsInitialized()) return;
    const GilHeld gil;
    Py_DECREF(o);
  };
}

}  // namespace rushlight::python
