// t[...] and t[...] = value, len(), iteration and truth.
#include "bindings/data.h"
#include "bindings/module.h"
#include "bindings/profile.h"
#include "bindings/table/signature.h"
#include "bindings/warnings.h"
#include "kernels/stored.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

const Tensor& self_of(PyObject* o) { return reinterpret_cast<Object*>(o)->value; }

Tensor squeeze_first(const Tensor& t) {
  const std::int64_t zero = 0;
  return squeeze(t, {&zero, 1});
}
Tensor slice_nothing(const Tensor& t) {
  return t.dim() ? slice(t, 0, {}, {}, 1) : as_strided(t, t.shape(), t.shape(), t.offset());
}

// What is between the brackets, applied from left to right: ints, slices, None and Ellipsis
// make a view at once; tensors, lists and masks are collected for index().
struct Applied {
  Tensor view;
  std::vector<Tensor> indices;  // by dimension of `view`; undefined: untouched
  bool by_tensor = false;
};

void warn(const char* words) {
  if (PyErr_WarnEx(PyExc_UserWarning, words, 1) < 0) throw py::error_already_set();
}

constexpr const char* kOldMask =
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.";

bool is_tensor_like(PyObject* o) {
  return as_tensor(o) || is_array(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o));
}

// How many dimensions of the tensor an item uses up.
int consumed(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (const Tensor* t = as_tensor(o))
    return t->dtype() == DType::boolean || t->dtype() == DType::uint8 ? t->dim() : 1;
  if (is_array(o)) {
    const Tensor t = from_array(o, false);
    return t.dtype() == DType::boolean ? t.dim() : 1;
  }
  return 1;
}

std::optional<std::int64_t> bound(PyObject* o) {
  if (o == Py_None) return {};
  std::int64_t value;
  if (PyLong_Check(o)) {  // far beyond 64 bits is as good as the end
    int overflow;
    value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow)
      return overflow > 0 ? std::numeric_limits<std::int64_t>::max()
                          : std::numeric_limits<std::int64_t>::min() / 2;
    return value;
  }
  if (!Argument<std::int64_t>::read(o, value))
    fail<TypeError>("slice indices must be integers or None or have an __index__ method");
  return value;
}

Tensor as_indices(PyObject* o, Device device) {
  if (const Tensor* t = as_tensor(o)) return *t;
  const GradMode off(false);
  Tensor t = data_of(o, {}, false);
  if (t.numel() == 0 && is_floating(t.dtype())) t = to(t, DType::int64);  // an empty list
  return device.is_cpu() ? t : to(t, device);
}

Tensor sliced(const Tensor& t, PyObject* key, int dim) {
  const auto* s = reinterpret_cast<PySliceObject*>(key);
  const std::int64_t step = bound(s->step).value_or(1);
  if (step == 0) fail<ValueError>("slice step cannot be zero");
  if (step < 0) fail<ValueError>("step must be greater than zero");
  if (s->start != Py_None || s->stop != Py_None || step != 1)
    return slice(t, dim, bound(s->start), bound(s->stop), step);
  if (t.dim() == 0) fail<IndexError>("slice() cannot be applied to a 0-dim tensor.");
  return t;
}

// `at` is the position in the key, which torch's words call the dimension.
void apply_one(Applied& a, PyObject* o, int& dim, Py_ssize_t at) {
  const auto put = [&](const Tensor& t, int count) {
    a.indices.resize(std::max(a.indices.size(), std::size_t(dim) + 1));
    a.indices[std::size_t(dim)] = t;
    a.by_tensor = true;
    dim += count;
  };
  std::int64_t position;
  const Tensor* t = as_tensor(o);
  const bool scalar_tensor_index = t && t->dim() == 0 && is_integral(t->dtype()) &&
                                   t->dtype() != DType::boolean && t->dtype() != DType::uint8;
  if (PyBool_Check(o)) {
    a.view = unsqueeze(a.view, dim);
    put(full({1}, o == Py_True, DType::boolean, a.view.device()), 1);
  } else if (scalar_tensor_index) {
    a.view = select(a.view, dim, item(*t).as_int());
  } else if (!t && !is_array(o) && Argument<std::int64_t>::read(o, position)) {
    if (a.view.dim() == 0)
      fail<IndexError>(
          "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
          "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    const std::int64_t n = a.view->shape[wrap_dim(dim, a.view.dim())];
    if (position < -n || position >= n)
      fail<IndexError>("index ", position, " is out of bounds for dimension ", at, " with size ",
                       n);
    a.view = select(a.view, dim, position);
  } else if (PySlice_Check(o)) {
    a.view = sliced(a.view, o, dim++);
  } else if (o == Py_None) {
    a.view = unsqueeze(a.view, dim++);
  } else if (is_tensor_like(o)) {
    const Tensor i = as_indices(o, a.view.device());
    if (t && i.dtype() == DType::uint8) warn(kOldMask);
    if (i.dim() == 0 && (i.dtype() == DType::boolean || i.dtype() == DType::uint8)) {
      a.view = unsqueeze(a.view, dim);
      put(to(unsqueeze(i, 0), DType::boolean), 1);
    } else {
      put(i, i.dtype() == DType::boolean || i.dtype() == DType::uint8 ? i.dim() : 1);
    }
  } else if (PyUnicode_Check(o)) {  // a sequence to torch, which makes a tensor of it
    fail<TypeError>("new(): invalid data type 'str'\na tensor has no columns with names: index it ",
                    "with integers, slices or tensors");
  } else {
    fail<IndexError>(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
        "are valid indices (got ",
        Py_TYPE(o)->tp_name, ")");
  }
}

// x[[[0, 1], [2, 0]]] is x[[0, 1], [2, 0]], as torch still has it from early NumPy.
bool stands_for_tuple(PyObject* key) {
  if (!PyList_Check(key) || PyList_GET_SIZE(key) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); ++i) {
    PyObject* item = PyList_GET_ITEM(key, i);
    const auto held = py::reinterpret_borrow<py::object>(item);  // a look at it may run Python
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor_like(item))
      return true;
  }
  return false;
}

Applied apply(const Tensor& self, PyObject* key) {
  Applied a{self, {}, false};
  if (const Tensor* only = as_tensor(key); only && only->dim() && consumed(key) <= self.dim()) {
    a.indices.push_back(*only);  // the usual: nothing to sort out
    a.by_tensor = true;
    if (only->dtype() == DType::uint8) [[unlikely]]
      warn(kOldMask);
    return a;
  }
  const bool unpacks = !PyTuple_Check(key) && stands_for_tuple(key);
  if (unpacks)
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result");
  const auto held = py::reinterpret_steal<py::object>(PyTuple_Check(key) ? Py_NewRef(key)
                                                      : unpacks          ? PySequence_Tuple(key)
                                                                         : PyTuple_Pack(1, key));
  if (!held) throw py::error_already_set();
  const Py_ssize_t n = PyTuple_GET_SIZE(held.ptr());
  int used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(held.ptr(), i);
    used += consumed(item);
  }
  if (used > self.dim() && !(self.dim() == 0 && n == 1 && used == 1))
    fail<IndexError>("too many indices for tensor of dimension ", self.dim());
  int dim = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(held.ptr(), i);
    if (item == Py_Ellipsis)
      dim += self.dim() - used;
    else
      apply_one(a, item, dim, i);
  }
  // A mask of several dimensions indexes all of them: the entries it covers are dropped.
  std::vector<Tensor> compact;
  for (std::size_t d = 0; d < a.indices.size(); ++d) {
    compact.push_back(a.indices[d]);
    const Tensor& t = a.indices[d];
    if (t && (t.dtype() == DType::boolean || t.dtype() == DType::uint8))
      d += std::size_t(t.dim()) - 1;
  }
  a.indices = std::move(compact);
  return a;
}

// Whether a key or value that was refused has __torch_function__: then the error is dropped, and
// the slots look first from now on.
bool taken_over_after_error(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const args[] = {key, value};
  if (overriding || !is_taken_over(self, args, value ? 2 : 1)) return false;
  PyErr_Clear();
  start_overriding();
  return true;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  try {
    const Tensor& t = self_of(self);
    std::int64_t position;
    if (PyLong_CheckExact(key) && t.dim() && Argument<std::int64_t>::read(key, position)) {
      const std::int64_t n = t->shape[0];
      if (position < -n || position >= n)
        fail<IndexError>("index ", position, " is out of bounds for dimension 0 with size ", n);
      return kept_class(wrap(select(t, 0, position)), self);
    }
    if (PySlice_Check(key) && t.dim()) {
      const Tensor held = t;  // a bound's __index__ may run Python, which may give self other data
      const Tensor view = sliced(held, key, 0);
      return kept_class(wrap(view.is_same(held) ? slice_nothing(held) : view), self);
    }
    const Applied a = apply(t, key);
    if (a.by_tensor) return kept_class(wrap(index(a.view, a.indices)), self);
    // t[...] and t[:] are new tensors on the same elements.
    return kept_class(wrap(a.view.is_same(t) ? slice_nothing(t) : a.view), self);
  } catch (...) {
    raise_current();
    return taken_over_after_error(self, key, nullptr) ? WatchedSlot<subscript>::call(self, key)
                                                      : nullptr;
  }
}

int watched_assign(PyObject* self, PyObject* at, PyObject* value);

int assign(PyObject* self, PyObject* key, PyObject* value) {
  try {
    const Tensor& t = self_of(self);
    if (!value) fail<TypeError>("Tensor does not support deleting items");
    const Applied a = apply(t, key);
    Tensor source;
    Scalar number;
    if (const Tensor* v = as_tensor(value)) {
      source = *v;
    } else if (Argument<Scalar>::read(value, number)) {
      check_fits("__setitem__", "value", number, a.view.dtype());
      if (!a.by_tensor) {
        check_no_internal_overlap(a.view, "__setitem__");
        fill_(a.view, number);
        return 0;
      }
      index_put_(a.view, a.indices, number);
      return 0;
    } else if (is_complex_number(value)) {
      const auto complex = py::reinterpret_steal<py::object>(complex_as_tensor(value));
      if (!complex) throw py::error_already_set();
      source = number_as("__setitem__", *as_tensor(complex.ptr()), a.view.dtype());
    } else {
      fail<TypeError>("can't assign a ", Py_TYPE(value)->tp_name, " to a torch.",
                      scalar_name(t.dtype()), "Tensor\n",
                      "make it a tensor first: torch.as_tensor(value)");
    }
    if (source.device() != a.view.device() && source.dim() == 0)
      source = to(source, a.view.device());
    // Leading dimensions of size 1 of the value may be dropped, as in NumPy.
    while (source.dim() > (a.by_tensor ? 1 : a.view.dim()) && source->shape[0] == 1)
      source = squeeze_first(source);
    if (!a.by_tensor) {
      if (!can_broadcast_to(source.sizes(), a.view.sizes()))
        expand(source, a.view.sizes());  // raises, naming the sizes
      // Of self's own elements: copy_ refuses some of those that are not of self's shape.
      if (source->storage.get() == a.view->storage.get() && !(source.shape() == a.view.shape()))
        source = expand(source, a.view.sizes());
      copy_(a.view, source);
      return 0;
    }
    // One number under one mask is filled in, whatever its dtype; else index_put_ wants ours.
    const bool by_mask = a.indices.size() == 1 && a.indices[0].dtype() == DType::boolean;
    if (source.dtype() != a.view.dtype() && source.numel() == 1 && by_mask)
      source = to(source, a.view.dtype());
    index_put_(a.view, a.indices, source, false);
    return 0;
  } catch (...) {
    raise_current();
    return value && taken_over_after_error(self, key, value) ? watched_assign(self, key, value)
                                                             : -1;
  }
}

Py_ssize_t length(PyObject* self) {
  const Tensor& t = self_of(self);
  if (t.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return Py_ssize_t(t->shape[0]);
}

PyObject* iterate(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.dim() == 0) fail<TypeError>("iteration over a 0-d tensor");
    PyObject* parts = kept_class(to_python(unbind(t, 0)), self);
    PyObject* iterator = parts ? PyObject_GetIter(parts) : nullptr;
    Py_XDECREF(parts);
    return iterator;
  } catch (...) {
    return raise_current();
  }
}

int truth(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.numel() != 1)
      fail<RuntimeError>("Boolean value of Tensor with ",
                         t.numel() ? "more than one value" : "no values", " is ambiguous");
    return is_true(t);
  } catch (...) {
    raise_current();
    return -1;
  }
}

// int(t) and float(t)
Scalar only_element(PyObject* self) {
  const Tensor& t = self_of(self);
  if (t.numel() != 1)
    fail<ValueError>("only one element tensors can be converted to Python scalars\ngot shape ",
                     t.sizes());
  if (is_complex(t.dtype())) [[unlikely]] {
    const auto v = element_of(t, t.offset()).as<Complex<double>>(t.dtype());
    if (v.imag != 0)
      fail<RuntimeError>("value cannot be converted to type double without overflow\nit is ",
                         v.real, " + ", v.imag, "j: take x.real, or complex(x)");
    return Scalar(v.real);
  }
  return item(t);
}
PyObject* unsigned_number(PyObject* self) {  // which may be too large for a Scalar
  const Tensor& t = self_of(self);
  if (t.numel() != 1) only_element(self);  // throws
  return python_number(t, t.offset()).release().ptr();
}
PyObject* as_int(PyObject* self) {
  try {
    if (self_of(self).dtype() == DType::uint64) [[unlikely]]
      return unsigned_number(self);
    const Scalar s = only_element(self);
    return s.is_floating() ? PyLong_FromDouble(s.d) : PyLong_FromLongLong(s.i);
  } catch (...) {
    return raise_current();
  }
}
PyObject* as_float(PyObject* self) {
  static bool said = false;
  try {
    if (self_of(self).requires_grad() &&
        !warn_once(said,
                   "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                   "behavior.\nConsider using tensor.detach() first."))
      return nullptr;
    return PyFloat_FromDouble(only_element(self).as_double());
  } catch (...) {
    return raise_current();
  }
}
PyObject* as_index(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.numel() != 1 || !is_integral(t.dtype()))
      fail<TypeError>("only integer tensors of a single element can be converted to an index");
    if (t.dtype() == DType::uint64) [[unlikely]]
      return unsigned_number(self);
    return PyLong_FromLongLong(item(t).as_int());
  } catch (...) {
    return raise_current();
  }
}

int watched_assign(PyObject* self, PyObject* at, PyObject* value) {
  PyObject* const args[] = {at, value ? value : Py_None};
  if (overriding && is_taken_over(self, args, 2)) {
    PyObject* const all[] = {self, at, value};
    PyObject* result = hand_over_method(value ? "__setitem__" : "__delitem__", all, value ? 3 : 2);
    Py_XDECREF(result);
    return result ? 0 : -1;
  }
  Span span("index_put_", self, args, 2);
  const int done = assign(self, at, value);
  span.end(nullptr);
  return done;
}

}  // namespace

// A slot that takes a tensor alone (len, bool, int): the class's override, or the slot itself.
static PyObject* answer_of_class(const char* method, PyObject* self) {
  return hand_over_method(method, &self, 1);
}
static int watched_truth(PyObject* self) {
  if (!overriding || !is_taken_over(self, nullptr, 0)) return truth(self);
  const auto answer = py::reinterpret_steal<py::object>(answer_of_class("__bool__", self));
  return answer ? PyObject_IsTrue(answer.ptr()) : -1;
}
static Py_ssize_t watched_length(PyObject* self) {
  if (!overriding || !is_taken_over(self, nullptr, 0)) return length(self);
  const auto answer = py::reinterpret_steal<py::object>(answer_of_class("__len__", self));
  const Py_ssize_t n = answer ? PyNumber_AsSsize_t(answer.ptr(), PyExc_OverflowError) : -1;
  if (answer && n < 0 && !PyErr_Occurred())
    PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");
  return n < 0 ? -1 : n;
}
// Iteration is unbind(), which the class takes over.
static PyObject* watched_iterate(PyObject* self) {
  if (!overriding || !is_taken_over(self, nullptr, 0)) return iterate(self);
  const auto parts = py::reinterpret_steal<py::object>(PyObject_CallMethod(self, "unbind", "i", 0));
  return parts ? PyObject_GetIter(parts.ptr()) : nullptr;
}

template <class Methods, class Slot>
static void exchange(bool watched, Slot Methods::* field, Slot plain, Slot other) {
  put_slot(field, watched ? plain : other, watched ? other : plain);
}

void watch_indexing() {
  watch_slot<&PyNumberMethods::nb_int, as_int>(nullptr, "__int__", nullptr);
  watch_slot<&PyNumberMethods::nb_float, as_float>(nullptr, "__float__", nullptr);
  watch_slot<&PyNumberMethods::nb_index, as_index>(nullptr, "__index__", nullptr);
  watch_slot<&PyMappingMethods::mp_subscript, subscript>("index", "__getitem__", nullptr);
  add_watched([](bool watched) {
    exchange(watched, &PyMappingMethods::mp_ass_subscript, &assign, &watched_assign);
    exchange(watched, &PyMappingMethods::mp_length, &length, &watched_length);
    exchange(watched, &PySequenceMethods::sq_length, &length, &watched_length);
    exchange(watched, &PyNumberMethods::nb_bool, &truth, &watched_truth);
    exchange(watched, &PyTypeObject::tp_iter, &iterate, &watched_iterate);
  });
}

std::vector<PyType_Slot> indexing_slots() {
  using Slot = void*;
  return {{Py_mp_subscript, Slot(subscript)}, {Py_mp_ass_subscript, Slot(assign)},
          {Py_mp_length, Slot(length)},       {Py_sq_length, Slot(length)},
          {Py_tp_iter, Slot(iterate)},        {Py_nb_bool, Slot(truth)},
          {Py_nb_int, Slot(as_int)},          {Py_nb_float, Slot(as_float)},
          {Py_nb_index, Slot(as_index)}};
}

}  // namespace rushlight::python
