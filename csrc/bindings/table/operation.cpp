// The Python objects of operations written in Python: functions, which are no methods of a class
// that holds them (as torch's built-in functions), and methods of Tensor.
#include <map>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include "bindings/module.h"
#include "bindings/profile.h"
#include "composition.h"
#include "help.h"
#include "out_variants.h"
#include "overrides.h"
#include "return_types.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct Operation {
  PyObject_HEAD vectorcallfunc call;
  const Composition* row;  // null: of a module that is not imported yet
  PyObject *name, *module;  // where programs find it, but for a method: what defines it
  PyObject *weak_refs, *attributes;  // F.relu6.gain = 2
  bool in_place, is_method;
  bool is_taken_over;  // by __torch_function__; torch leaves as_subclass() out
};
PyTypeObject *function_type, *method_type;

Operation* operation(PyObject* o) { return reinterpret_cast<Operation*>(o); }

// The methods by name, those of modules that are not imported yet among them.
std::map<std::string, Operation*>& methods() {
  static auto& all = *new std::map<std::string, Operation*>;
  return all;
}

// False with an error in flight.
bool load(Operation* o) {
  if (o->row) [[likely]]
    return true;
  PyObject* module = PyImport_Import(o->module);
  Py_XDECREF(module);
  if (!module) return false;
  if (!o->row) PyErr_Format(PyExc_AttributeError, "%U does not define %U", o->module, o->name);
  return o->row != nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  Operation* o = operation(self);
  const Py_ssize_t given = PyVectorcall_NARGS(flags);
  if (operation(self)->is_taken_over &&
      is_taken_over(nullptr, args, given + (keywords ? PyTuple_GET_SIZE(keywords) : 0))) {
    start_overriding();  // what functions are given in Python is looked at from now on
    return hand_over(self, nullptr, args, given, keywords);
  }
  if (!load(o)) return nullptr;
  const Composition& row = *o->row;
  PyObject* values[kMaxArguments + 1];
  std::pair<PyObject* const*, Py_ssize_t> rest{};
  const bool bound = row.signature.bind(nullptr, args, given, keywords, values, rest);
  if (!o->in_place) return bound ? row.call(values, rest, o->is_method) : nullptr;
  PyObject* const target = bound ? values[0] : nullptr;
  const AutocastOff inside;
  const auto operand = py::reinterpret_steal<py::object>(
      operand_in_place(target, values, bound ? Py_ssize_t(row.signature.parameters.size()) : 0));
  if (bound) values[0] = operand.ptr();
  return write_to_first(row.signature, bound ? row.call(values, rest, o->is_method) : nullptr,
                        target);
}

PyObject* call_watched(PyObject* self, PyObject* const* args, std::size_t flags,
                       PyObject* keywords) {
  const Py_ssize_t n = PyVectorcall_NARGS(flags);
  const char* name = PyUnicode_AsUTF8(operation(self)->name);
  Span span(name, nullptr, args, n + (keywords ? PyTuple_GET_SIZE(keywords) : 0));
  return span.end(call(self, args, flags, keywords));
}
vectorcallfunc entry = call;
std::vector<Operation*>& operations() {
  static auto& all = *new std::vector<Operation*>;
  return all;
}

// What torch leaves out of the protocol: settings, and questions about any object.
bool takes_part(const std::string& name, const std::string& module) {
  for (const char* settings : {"_defaults", "_determinism", "_tensor_str", "_tensor_types"})
    if (module == std::string("rushlight.") + settings) return false;
  return name != "as_subclass" && name != "is_storage" && name != "broadcast_shapes";
}

PyObject* make(PyTypeObject* type, const Composition* row, const std::string& name,
               const std::string& module, const std::string& defined_in, bool in_place) {
  Operation* o = PyObject_New(Operation, type);
  if (!o) throw py::error_already_set();
  o->call = entry;
  o->row = row;
  o->name = py::str(name).release().ptr();
  o->module = py::str(module).release().ptr();
  o->weak_refs = o->attributes = nullptr;
  o->in_place = in_place;
  o->is_method = type == method_type;
  o->is_taken_over = takes_part(name, defined_in);
  operations().push_back(o);  // they live as long as the process
  return Py_NewRef(reinterpret_cast<PyObject*>(o));
}

PyObject* get_itself(PyObject* self, PyObject*, PyObject*) { return Py_NewRef(self); }
PyObject* bind_to(PyObject* self, PyObject* instance, PyObject*) {
  return instance ? PyMethod_New(self, instance) : Py_NewRef(self);
}
PyObject* represent(PyObject* self) {
  Operation* o = operation(self);
  return o->is_method ? PyUnicode_FromFormat("<method '%U' of 'Tensor' objects>", o->name)
                      : PyUnicode_FromFormat("<built-in function %U>", o->name);
}
PyObject* get_name(PyObject* self, void*) { return Py_NewRef(operation(self)->name); }
PyObject* get_qualname(PyObject* self, void*) {
  Operation* o = operation(self);
  return o->is_method ? PyUnicode_FromFormat("Tensor.%U", o->name) : Py_NewRef(o->name);
}
PyObject* get_module(PyObject* self, void*) {
  Operation* o = operation(self);
  return o->is_method ? PyUnicode_FromString("rushlight") : Py_NewRef(o->module);
}
PyObject* get_doc(PyObject* self, void*) {
  if (!load(operation(self))) return nullptr;
  const Composition& row = *operation(self)->row;
  if (operation(self)->in_place) return to_python(row.signature.name + "() in place.");
  try {
    const auto doc = py::module_::import("inspect").attr("cleandoc")(row.doc).cast<std::string>();
    return to_python(help_of(doc, {&row.signature}));
  } catch (...) {
    return raise_current();
  }
}
PyObject* get_wrapped(PyObject* self, void*) {
  return load(operation(self)) ? Py_NewRef(operation(self)->row->function.ptr()) : nullptr;
}
// An inspect.Signature, made by Python from the function's own.
PyObject* get_signature(PyObject* self, void*) {
  Operation* o = operation(self);
  if (!load(o)) return nullptr;
  try {
    const bool has_out = o->row->signature.out >= 0 && !o->in_place;
    return py::module_::import("rushlight._table")
        .attr("signature_of")(o->row->function, has_out)
        .release()
        .ptr();
  } catch (...) {
    return raise_current();
  }
}
// Functions are pickled by their name, methods as attributes of Tensor.
PyObject* reduce(PyObject* self, PyObject*) {
  Operation* o = operation(self);
  if (!o->is_method) return Py_NewRef(o->name);
  return Py_BuildValue("(O(OO))", PyDict_GetItemString(PyEval_GetBuiltins(), "getattr"),
                       tensor_type, o->name);
}

PyGetSetDef getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_qualname, nullptr, nullptr, nullptr},
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__wrapped__", get_wrapped, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef operation_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Operation, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Operation, weak_refs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Operation, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef reducers[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                          {nullptr, nullptr, 0, nullptr}};

PyTypeObject* make_type(const char* name, descrgetfunc get, unsigned long flags) {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(get)},
                         {Py_tp_repr, reinterpret_cast<void*>(represent)},
                         {Py_tp_getset, getters},
                         {Py_tp_members, operation_members},
                         {Py_tp_methods, reducers},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(Operation), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | flags),
                      slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

// ---- definitions

Kind kind_of(std::string_view word) {
  static const std::map<std::string_view, Kind> kinds = {{"Tensor", Kind::tensor},
                                                         {"Number", Kind::number},
                                                         {"int", Kind::integer},
                                                         {"float", Kind::real},
                                                         {"bool", Kind::boolean},
                                                         {"Truth", Kind::truth},
                                                         {"str", Kind::string},
                                                         {"Sequence[int]", Kind::integers},
                                                         {"tuple[int, ...]", Kind::int_tuple},
                                                         {"dtype", Kind::dtype},
                                                         {"device", Kind::device},
                                                         {"Sequence[Tensor]", Kind::tensors}};
  const auto found = kinds.find(word);
  return found == kinds.end() ? Kind::anything : found->second;
}

// The words between " | "; any word that says nothing to the parser lets everything through.
std::vector<Kind> kinds_of(std::string_view annotation, bool& optional) {
  std::vector<Kind> kinds;
  bool anything = annotation.empty();
  while (!annotation.empty()) {
    const std::size_t bar = annotation.find(" | ");
    const std::string_view word = annotation.substr(0, bar);
    annotation.remove_prefix(bar == annotation.npos ? annotation.size() : bar + 3);
    if (word == "None")
      optional = true;
    else if (const Kind kind = kind_of(word); kind != Kind::anything)
      kinds.push_back(kind);
    else
      anything = true;
  }
  if (anything) kinds.clear();
  return kinds;
}

Policy policy_of(py::handle words) {  // (on the CPU, on GPUs)
  const auto cast = [](const std::string& word) {
    if (word == "lower") return Cast::lower;
    if (word == "full") return Cast::full;
    if (word == "none") return Cast::none;
    fail<ValueError>("autocast: 'lower', 'full' or 'none', not ", word);
  };
  const auto pair = words.cast<std::pair<std::string, std::string>>();
  return {cast(pair.first), cast(pair.second)};
}

// The parameters of a Python function as those of a signature.
void read_parameters(const py::object& function, Composition& row, bool has_out) {
  const py::object code = function.attr("__code__");
  const auto names = code.attr("co_varnames").cast<std::vector<std::string>>();
  const auto positional = code.attr("co_argcount").cast<std::size_t>();
  const auto keyword_only = code.attr("co_kwonlyargcount").cast<std::size_t>();
  const bool variadic = code.attr("co_flags").cast<int>() & 4;
  const py::object defaults = function.attr("__defaults__"),
                   by_name = function.attr("__kwdefaults__");
  const std::size_t given = defaults.is_none() ? 0 : py::len(defaults);
  const py::dict annotations = function.attr("__annotations__");
  Signature& s = row.signature;
  if (positional + keyword_only + 2 > kMaxArguments)
    fail<ValueError>(s.name, ": too many parameters");
  py::list keywords;
  s.text = s.name + "(";
  const auto add = [&](const std::string& name, py::object fallback, const char* star) {
    const std::string annotation =
        annotations.contains(name) ? annotations[name.c_str()].cast<std::string>() : "";
    bool optional = false;
    row.kinds.push_back(kinds_of(annotation, optional));
    row.optional.push_back(optional);
    if (s.text.back() != '(') s.text += ", ";
    s.text += star + name;
    if (fallback) s.text += "=" + py::repr(fallback).cast<std::string>();
    s.required += !fallback && !*star;
    s.parameters.push_back({name, PyUnicode_InternFromString(name.c_str()),
                            fallback ? fallback.release().ptr() : nullptr});
  };
  for (std::size_t i = 0; i < positional; ++i)
    add(names[i],
        i + given < positional ? py::object()
                               : py::object(defaults[py::int_(i + given - positional)]),
        "");
  s.positional = int(positional);
  if (variadic) {
    add(names[positional + keyword_only], {}, "*");
    s.variadic = true;
    ++s.positional;
    ++s.required;
  } else if (keyword_only || has_out) {
    s.text += s.text.back() == '(' ? "*" : ", *";
  }
  for (std::size_t i = positional; i < positional + keyword_only; ++i) {
    const bool has_default = !by_name.is_none() && by_name.contains(names[i]);
    s.needs_keyword |= !has_default;
    add(names[i], has_default ? py::object(by_name[names[i].c_str()]) : py::object(), "");
    keywords.append(py::str(names[i]));
  }
  row.keyword_names = keywords.empty() ? py::object() : py::tuple(keywords);
  if (has_out) {
    s.text += ", out=None";
    s.parameters.push_back({"out", PyUnicode_InternFromString("out"), Py_None});
    s.out = int(s.parameters.size()) - 1;
  }
  s.text += ")";
}

As visibility(const py::object& words) {
  As as = As(0);
  for (const py::handle each : words) {
    const auto word = each.cast<std::string>();
    const auto found = std::ranges::find(kVisibilities, word, &Visibility::name);
    if (found == std::end(kVisibilities))
      fail<ValueError>(
          "an operation is visible in torch, Tensor, nn.functional, special, linalg or fft, "
          "not in ",
          word);
    as = as | found->as;
  }
  return as;
}

void add_method(const Composition* row, const std::string& name, bool in_place) {
  if (const auto known = methods().find(name); known != methods().end()) {
    known->second->row = row;
    known->second->in_place = in_place;
    return;
  }
  PyObject* made = make(method_type, row, name, row->module, row->module, in_place);
  methods()[name] = operation(made);
  py::setattr(reinterpret_cast<PyObject*>(tensor_type), name.c_str(),
              py::reinterpret_steal<py::object>(made));
}

// What `op` of rushlight._table returns: (function, function in place or None).
py::tuple define(const py::object& function, const py::object& visible, const py::object& in_place,
                 bool has_out, const py::object& autocast_words, bool exact, bool differentiable,
                 bool waits, const std::string& returns, const std::string& node) {
  auto* row = new Composition;  // it lives as long as the process
  Signature& s = row->signature;
  const auto name = function.attr("__name__").cast<std::string>();
  row->function = function;
  row->module = function.attr("__module__").cast<std::string>();
  const py::object doc = function.attr("__doc__");
  row->doc = doc.is_none() ? "" : doc.cast<std::string>();
  s.row = {.as = visibility(visible),
           .autocast = policy_of(autocast_words),
           .in_place = visibility(in_place),
           .exact = exact,
           .differentiable = differentiable,
           .node = node.empty() ? nullptr : strdup(node.c_str()),  // it lives as long as the row
           .waits = waits};
  s.name = s.row.as == As::linalg ? "linalg_" + name : name;  // as torch's errors say it
  read_parameters(function, *row, has_out);
  if (!returns.empty()) s.result = return_type(s.name, returns);
  if (!returns.empty() && has_out) s.result_out = return_type(s.name + "_out", returns);
  if (has(s.row.as, As::method)) add_method(row, name, false);
  if (has(s.row.in_place, As::method)) add_method(row, name + "_", true);
  published_rows().push_back({name, {&s}, {}, s.row, row->module});
  std::string module = row->module;
  for (const Visibility& v : kVisibilities)
    if (v.as != As::method && has(s.row.as, v.as)) {
      module = std::string("rushlight") + v.path;
      break;
    }
  const auto public_function = [&](const std::string& as, bool writes) {
    return py::reinterpret_steal<py::object>(
        make(function_type, row, as, module, row->module, writes));
  };
  return py::make_tuple(public_function(name, false),
                        unsigned(s.row.in_place) & ~unsigned(As::method)
                            ? public_function(name + "_", true)
                            : py::object(py::none()));
}

// module -> names of methods, with spaces between: what python/rushlight/_index.py says.
void declare_methods(const py::dict& index) {
  for (const auto& [module, names] : index)
    for (const py::handle name : names.attr("split")()) {
      const auto home = module.cast<std::string>();
      PyObject* made = make(method_type, nullptr, name.cast<std::string>(), home, home, false);
      methods()[name.cast<std::string>()] = operation(made);
      py::setattr(reinterpret_cast<PyObject*>(tensor_type), py::str(name),
                  py::reinterpret_steal<py::object>(made));
    }
}

}  // namespace

void bind_operation(py::module_& m) {
  function_type = make_type("rushlight.operation", get_itself, 0);
  method_type = make_type("rushlight.operation_method", bind_to, Py_TPFLAGS_METHOD_DESCRIPTOR);
  add_watched([](bool watched) {
    entry = watched ? call_watched : call;
    for (Operation* o : operations()) o->call = entry;
  });
  m.def("_define", define);
  m.def("_declare_methods", declare_methods);
}

}  // namespace rushlight::python
