// The other forms of an op that has made its result: written to out=, or to its first argument; and
// the casts of autocast before it. None of it is on the path of a plain call.
#include "out_variants.h"

#include <algorithm>
#include <pybind11/pybind11.h>

#include "bindings/autocast.h"
#include "overrides.h"
#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

[[noreturn]] void refuse_history(const char* op) {
  fail<RuntimeError>(op,
                     "(): functions with out=... arguments don't support automatic "
                     "differentiation, but one of the arguments requires grad.");
}

// The ops that are cat() in torch, which refuses in words of its own.
bool is_join(std::string_view op) {
  constexpr std::string_view names[] = {"cat",    "concat", "concatenate", "stack",
                                        "hstack", "vstack", "dstack"};
  return std::find(std::begin(names), std::end(names), op) != std::end(names);
}

// Before the first of several results is written, all of them are checked.
void check_out(const char* op, const Tensor& out, const Tensor& result, bool exact) {
  if (result.requires_grad() || (grad_enabled() && out.requires_grad())) refuse_history(op);
  const bool as_bool = result.dtype() == DType::boolean && out.dtype() == DType::uint8;
  if (exact && out.dtype() != result.dtype() && !as_bool)
    fail<RuntimeError>("Expected out tensor to have dtype ", c_name(result.dtype()), ", but got ",
                       c_name(out.dtype()), " instead\n", op, "(): ", describe("out", out));
  if (!can_cast(result.dtype(), out.dtype())) {
    if (is_join(op))
      fail<TypeError>("torch.cat(): input types can't be cast to the desired output type ",
                      scalar_name(out.dtype()), "\n", op, "(): ", describe("out", out));
    fail<RuntimeError>("result type ", scalar_name(result.dtype()),
                       " can't be cast to the desired output type ", scalar_name(out.dtype()), "\n",
                       op, "(): ", describe("out", out));
  }
  check_same_device(op, out, "out", result, "the result");
}

void write_out(const char* op, const Tensor& out, const Tensor& result) {
  check_no_internal_overlap(out, op);
  resize_output(out, result);
  copy_bits(out, result);
  finish_inplace(out);
}

// Of rows that read by indices while they write.
void check_arguments_apart(const Tensor& target, PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (const Tensor* t = as_tensor(args[i])) check_apart(target, *t);
    if (!is_list(args[i])) continue;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args[i]); ++k)
      if (const Tensor* t = as_tensor(PySequence_Fast_GET_ITEM(args[i], k)))
        check_apart(target, *t);
  }
}

const Tensor& tensor_of_out(const Signature& s, PyObject* out, const char* expected) {
  const Tensor* t = as_tensor(out);
  if (!t)
    fail<TypeError>(s.name, "(): argument 'out' must be ", expected, ", not ",
                    Py_TYPE(out)->tp_name);
  return *t;
}

}  // namespace

Tensor deliver(const char* op, const Out& out, Tensor result) {
  if (!out) return result;
  check_out(op, *out, result, false);
  write_out(op, *out, result);
  return *out;
}

void take_options_of(const Out& out, std::optional<DType>& dtype, std::optional<Device>& device) {
  if (!out) return;
  if (dtype && *dtype != out->dtype())
    fail<RuntimeError>("dtype ", scalar_name(*dtype), " does not match dtype of out parameter (",
                       scalar_name(out->dtype()), ")");
  dtype = out->dtype();
  if (!device) device = out->device();
}

Tensor deliver_new(const char* op, const Out& out, Tensor made, bool requires_grad) {
  made = finish(std::move(made), requires_grad);  // refuses integers
  if (!out) return made;
  made->requires_grad = false;
  deliver(op, out, made);
  if (is_leaf(*out->body())) (*out)->requires_grad = requires_grad;
  return *out;
}

namespace {

PyObject* deliver(const Signature& s, PyObject* result, PyObject* out, bool exact) {
  if (!result) return nullptr;
  const auto made = py::reinterpret_steal<py::object>(result);
  const char* op = s.name.c_str();
  if (const Tensor* one = as_tensor(result)) {
    const Tensor& target = tensor_of_out(s, out, "Tensor");
    check_out(op, target, *one, exact);
    write_out(op, target, *one);
    return Py_NewRef(out);
  }
  constexpr const char* kMany = "tuple of Tensors";
  const Py_ssize_t n = PyTuple_Check(result) ? PyTuple_GET_SIZE(result) : 0;
  if (!is_list(out) || PySequence_Fast_GET_SIZE(out) != n)
    fail<TypeError>(s.name, "(): argument 'out' must be ", kMany, ", not ", Py_TYPE(out)->tp_name);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!as_tensor(PyTuple_GET_ITEM(result, i)))
      fail<TypeError>(s.name, "(): result ", i, " is no tensor: it cannot be written to out");
  // A tuple of its own: nothing can change it while it is written to.
  const auto targets = py::reinterpret_steal<py::object>(PySequence_Tuple(out));
  for (Py_ssize_t i = 0; i < n; ++i)
    check_out(op, tensor_of_out(s, PyTuple_GET_ITEM(targets.ptr(), i), kMany),
              *as_tensor(PyTuple_GET_ITEM(result, i)), exact || !s.row.converts);
  for (Py_ssize_t i = 0; i < n; ++i)
    write_out(op, *as_tensor(PyTuple_GET_ITEM(targets.ptr(), i)),
              *as_tensor(PyTuple_GET_ITEM(result, i)));
  PyObject* delivered = Py_NewRef(targets.ptr());
  return s.result_out ? named_result(s.result_out, delivered) : delivered;
}

}  // namespace

PyObject* deliver(const Signature& s, PyObject* result, PyObject* out) {
  return deliver(s, result, out, s.row.exact);
}

Tensor written_to_self(const Tensor& self, const Tensor& result, const std::string& name) {
  if (!same(result.sizes(), self.sizes()))
    fail<RuntimeError>("output with shape ", self.sizes(), " doesn't match the broadcast shape ",
                       result.sizes(), "\n", name, "(): ", describe("self", self));
  if (!can_cast(result.dtype(), self.dtype()))
    fail<RuntimeError>("result type ", scalar_name(result.dtype()),
                       " can't be cast to the desired output type ", scalar_name(self.dtype()),
                       "\n", name, "(): ", describe("self", self));
  // The result's own node becomes that of what it was written to. Not of a view, whose base has to
  // know which part of it was written.
  const bool moves = may_record() && result.requires_grad() && !is_leaf(*result.body()) &&
                     !self->base && self.dtype() == result.dtype() &&
                     self.device() == result.device() &&
                     self->storage.get() != result->storage.get();
  if (!moves) return copy_(self, result), self;
  check_inplace(self, true, name.c_str());
  {
    const GradMode off(false);
    copy_(self, result);
  }
  attach(self, result->node, result->output);
  return self;
}

void rename_in_error(const std::string& name, const std::string& other) {
  py::error_already_set error;  // fetched: none is in flight
  const std::string text = py::str(error.value());
  if (!text.starts_with(name + "()")) return error.restore();
  PyErr_SetString(error.type().ptr(), (other + text.substr(name.size())).c_str());
}

PyObject* write_to_first(const Signature& s, PyObject* result, PyObject* target) {
  if (!result) return rename_in_error(s.name, s.name + "_"), nullptr;
  try {
    const auto made = py::reinterpret_steal<py::object>(result);
    const Tensor *from = as_tensor(result), *to = target ? as_tensor(target) : nullptr;
    if (!from || !to) fail<TypeError>(s.name, "_() has no tensor to write to");
    written_to_self(*to, *from, s.name + "_");
    return Py_NewRef(target);
  } catch (...) {
    return raise_current();
  }
}

PyObject* refused(const Signature& s, const Call& call) {
  if (s.is_alternative) return nullptr;  // the next overload may fit
  return refused(call.is_method ? s.method : s.function, call.is_method ? call.values[0] : nullptr,
                 call.args, call.n, call.keywords);
}
PyObject* raise_current(const Signature& s, const Call& call) {
  raise_current();
  if (has_subclasses && !call.is_method)
    if (PyObject* answer = answer_of_class(s.name.c_str(), call.args, call.n, call.keywords);
        answer || !PyErr_Occurred())
      return answer;
  return refused(s, call);
}

PyObject* operand_in_place(PyObject* target, PyObject* const* others, Py_ssize_t n) {
  const auto recorded = [](PyObject* argument) {
    const Tensor* t = argument ? as_tensor(argument) : nullptr;
    return t && wants_grad(*t);
  };
  const Tensor* t = target ? as_tensor(target) : nullptr;
  const bool copied =
      t && grad_enabled() && (recorded(target) || std::any_of(others, others + n, recorded));
  return copied ? wrap(clone(*t)) : Py_XNewRef(target);
}

PyObject* write_in_place(const Signature& s, _PyCFunctionFastWithKeywords entry,
                         _PyCFunctionFastWithKeywords plain, PyObject* self, PyObject* const* args,
                         Py_ssize_t n, PyObject* keywords) {
  if (!overriding)
    if (PyObject* result = refused(entry, self, args, n, keywords); result || PyErr_Occurred())
      return result;
  PyObject* target = self ? self : n ? args[0] : nullptr;
  for (Py_ssize_t k = 0; !target && keywords && k < PyTuple_GET_SIZE(keywords); ++k)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(keywords, k), s.parameters[0].key) == 0)
      target = args[n + k];  // name_(input=x)
  const AutocastOff inside;
  const Py_ssize_t given = n + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  const auto operand = py::reinterpret_steal<py::object>(
      s.row.keeps_input ? operand_in_place(target, args, given) : Py_XNewRef(target));
  std::vector<PyObject*> arguments;  // of a function, the operand is one of them
  if (!self && s.row.keeps_input) {
    arguments.assign(args, args + given);
    std::replace(arguments.begin(), arguments.end(), target, operand.ptr());
    args = arguments.data();
  }
  auto made =
      py::reinterpret_steal<py::object>(plain(self ? operand.ptr() : nullptr, args, n, keywords));
  try {
    if (made && self && s.row.apart) check_arguments_apart(*as_tensor(self), args, given);
  } catch (...) {
    return raise_current();
  }
  return write_to_first(s, made.release().ptr(), target);
}

PyObject* copy_views(const Signature& s, _PyCFunctionFastWithKeywords entry,
                     _PyCFunctionFastWithKeywords function, PyObject* const* args, Py_ssize_t n,
                     PyObject* keywords) {
  if (!overriding)
    if (PyObject* result = refused(entry, nullptr, args, n, keywords); result || PyErr_Occurred())
      return result;
  try {
    PyObject* out = Py_None;
    std::vector<PyObject*> given(args, args + n);
    py::list names;
    for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
      PyObject* name = PyTuple_GET_ITEM(keywords, k);
      if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        out = args[n + k];
        continue;
      }
      given.push_back(args[n + k]);
      names.append(py::handle(name));
    }
    const py::tuple rest(names);
    const auto views = py::reinterpret_steal<py::object>(
        function(nullptr, given.data(), n, names.empty() ? nullptr : rest.ptr()));
    if (!views) return nullptr;
    py::object copies;
    if (const Tensor* one = as_tensor(views.ptr())) {
      copies = py::reinterpret_steal<py::object>(wrap(row_major_clone(*one)));
    } else {
      py::list list;
      for (const py::handle view : views)
        list.append(py::reinterpret_steal<py::object>(
            wrap(row_major_clone(returned_tensor(s.name, view.ptr())))));
      copies = py::tuple(list);
    }
    PyObject* made = copies.release().ptr();
    if (out == Py_None) return made;
    const bool many = PyTuple_Check(made);
    const auto written = py::reinterpret_steal<py::object>(deliver(s, made, out, true));
    if (!written) return nullptr;
    return Py_NewRef(many ? Py_None : written.ptr());  // of several there is no result, as in torch
  } catch (...) {
    return raise_current();
  }
}

CastArguments::CastArguments(PyObject* const* values, std::size_t count, Policy policy) {
  const auto cast = [&](PyObject* o) -> PyObject* {
    const Tensor* t = as_tensor(o);
    return t ? wrap(recast(*t, policy)) : Py_NewRef(o);
  };
  values_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* o = values[i];
    if (!is_list(o)) {
      values_.push_back(cast(o));
      continue;
    }
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(o));
    if (!items) throw py::error_already_set();  // a tuple: other threads may change the list
    values_.push_back(PyTuple_New(PyTuple_GET_SIZE(items.ptr())));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k)
      PyTuple_SET_ITEM(values_.back(), k, cast(PyTuple_GET_ITEM(items.ptr(), k)));
  }
}
CastArguments::~CastArguments() {
  for (PyObject* o : values_) Py_XDECREF(o);
}

PyObject* call_with_casts(const Signature& s, const Call& call) {
  try {
    CastArguments cast(call.values, s.count(), s.row.autocast);
    Call again = call;
    again.values = cast.values();
    again.is_cast = true;
    return s.call(again);
  } catch (...) {
    return raise_current();
  }
}

void take_dtype_of(const Signature& s, PyObject* out, PyObject** values) {
  const Tensor* t = as_tensor(out);
  for (std::size_t i = 0; t && i < s.count(); ++i)
    if (s.parameters[i].name == "dtype" && values[i] == Py_None)
      values[i] = dtype_objects[int(t->dtype())];
}

PyObject* complete(const Signature& s, PyObject* result, const Call& call) {
  if (s.result) result = named_result(s.result, result);
  if (call.out != Py_None) {
    auto made = py::reinterpret_steal<py::object>(result);
    if (const Tensor* t = as_tensor(call.out); made && t && s.row.apart)
      check_arguments_apart(*t, call.values, Py_ssize_t(s.count()));
    return deliver(s, made.release().ptr(), call.out);
  }
  if (!has_subclasses || s.name == "tensor") return result;  // which copies data
  return in_class_of(result, nullptr, call.values, Py_ssize_t(s.count()));
}

}  // namespace rushlight::python
