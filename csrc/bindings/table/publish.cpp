// Publishes a row of the table where its words say: functions, methods, in-place forms, copies,
// aliases.
#include <algorithm>
#include <pybind11/pybind11.h>
#include <span>

#include "function.h"
#include "help.h"
#include "overrides.h"

namespace py = pybind11;

namespace rushlight::python {

std::vector<PublishedRow>& published_rows() {
  static auto& rows = *new std::vector<PublishedRow>;
  return rows;
}

std::vector<PublishedAlias>& published_aliases() {
  static auto& aliases = *new std::vector<PublishedAlias>;
  return aliases;
}

static void add_function(py::module_& m, As as, const Signature& s, bool has_text,
                         std::string_view doc, _PyCFunctionFastWithKeywords f) {
  PyMethodDef* defined = nullptr;
  py::object made;
  for (const Visibility& v : kVisibilities) {
    if (v.as == As::method || !has(as, v.as)) continue;
    const bool takes_attributes = v.as == As::functional;  // an object of its own
    const bool first = !defined;
    if (first) defined = definition(s, false, has_text, doc, f);
    if (first || takes_attributes) {  // that says where programs find it first
      const py::str module_name(m.attr("__public__").cast<std::string>() + v.path);
      made = py::reinterpret_steal<py::object>(
          takes_attributes ? function_with_attributes(defined, module_name.ptr())
                           : PyCFunction_NewEx(defined, nullptr, module_name.ptr()));
      if (!made) throw py::error_already_set();
      if (first) set_public_object(made.ptr());
    }
    const std::size_t skipped = s.name.starts_with(v.prefix) ? std::strlen(v.prefix) : 0;
    py::setattr(*v.submodule ? m.attr(v.submodule) : py::object(m), s.name.c_str() + skipped, made);
  }
}
static void add_method(const Signature& s, bool has_text, std::string_view doc,
                       _PyCFunctionFastWithKeywords f) {
  const auto made = py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(tensor_type, definition(s, true, has_text, doc, f)));
  set_public_object(made.ptr());
  py::setattr(reinterpret_cast<PyObject*>(tensor_type), s.name.c_str(), made);
}

// That of the in-place form: no out=, and the result is the first argument.
static Signature in_place_signature(const Signature& s) {
  const std::size_t open = s.text.find('('), out = s.text.find("out=None");
  std::string text = s.name + "_" + s.text.substr(open);
  if (out != s.text.npos) {
    text.erase(text.rfind(", ", out), text.npos);
    if (text.ends_with(", *")) text.erase(text.size() - 3);
    text += ")";
  }
  return Signature::parse(text);
}

static void publish_in_place(py::module_& m, const Signature& plain, const Row& row, bool has_text,
                             const EntryPoints& entries) {
  if (row.in_place == As(0)) return;
  const Signature s = in_place_signature(plain);
  const std::string doc = plain.name + "() in place.";
  if (has(row.in_place, As::method)) add_method(s, has_text, doc, entries.in_place);
  add_function(m, row.in_place, s, has_text, doc, entries.in_place_function);
}

// How all overloads are called, where they differ in types or defaults alone, or are a tensor and
// *tensors; else null.
static const Signature* common_signature(std::span<const Signature* const> signatures) {
  const Signature &first = *signatures.front(), &last = *signatures.back();
  const auto is_like = [&](const Signature* s) {
    return s->required == first.required && s->variadic == first.variadic &&
           std::ranges::equal(s->parameters, first.parameters, {}, &Signature::Parameter::name,
                              &Signature::Parameter::name);
  };
  if (std::ranges::all_of(signatures, is_like)) return &first;
  return first.parameters.size() == 1 && last.parameters.size() == 1 && last.variadic ? &last
                                                                                      : nullptr;
}

void publish(py::module_& m, std::initializer_list<const Signature*> signatures,
             const EntryPoints& entries, std::string_view doc) {
  const Signature* const common = common_signature(signatures);
  const Signature& s = common ? *common : **signatures.begin();
  const bool alone = signatures.size() == 1;
  std::string text;
  for (const Signature* each : signatures) {
    if (!common) text += each->text + "\n";
    each->is_alternative = !alone;
  }
  text += common ? "" : "\n";
  const std::vector shown = common ? std::vector{common} : std::vector(signatures);
  text += doc.empty() && alone ? stub_of_signature(s) : help_of(doc, shown);
  add_function(m, s.row.as, s, common, text, entries.function);
  if (has(s.row.as, As::method)) add_method(s, common, text, entries.method);
  publish_in_place(m, s, s.row, common, entries);
  if (s.row.copy) {
    const std::string name = s.name + "_copy", inside = s.text.substr(s.name.size());
    const Signature copy =
        Signature::parse(name + inside.substr(0, inside.size() - 1) +
                         (inside.find('*') == inside.npos ? ", *, out=None)" : ", out=None)"));
    add_function(m, As::function, copy, common, s.name + "(), as a copy.", entries.copy);
  }
  published_rows().push_back({s.name, signatures, {}, s.row});
}

void publish(py::module_& m, As as, const Signature& signature, const std::string& stub,
             std::string_view doc, _PyCFunctionFastWithKeywords function,
             _PyCFunctionFastWithKeywords method) {
  if (as == As(0)) return;
  const std::string text = help_of(doc, {&signature});
  add_function(m, as, signature, true, text, function);
  if (has(as, As::method)) add_method(signature, true, text, method);
  published_rows().push_back({signature.name, {&signature}, stub, {.as = as}});
}

// Calls what is aliased; its TypeErrors name the alias. `self` is (function, its name, the alias).
static PyObject* call_alias(PyObject* self, PyObject* const* args, Py_ssize_t n,
                            PyObject* keywords) {
  const auto own = py::reinterpret_borrow<py::tuple>(self);
  if (is_taken_over(nullptr, args, n + (keywords ? PyTuple_GET_SIZE(keywords) : 0))) {
    start_overriding();
    const auto itself = py::reinterpret_steal<py::object>(
        PyObject_GetAttr(PyImport_AddModule("rushlight._C"), PyTuple_GET_ITEM(self, 2)));
    return itself ? hand_over(itself.ptr(), nullptr, args, n, keywords) : nullptr;
  }
  PyObject* result = PyObject_Vectorcall(PyTuple_GET_ITEM(self, 0), args, std::size_t(n), keywords);
  if (!result) rename_in_error(own[1].cast<std::string>(), own[2].cast<std::string>());
  return result;
}

// A function of its own, with the alias in its name, signature and errors.
static py::object renamed(const py::object& function, const char* existing, const char* name) {
  std::string doc = reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml->ml_doc;
  if (doc.starts_with(existing)) doc.replace(0, std::strlen(existing), name);
  auto* made = new PyMethodDef{strdup(name), as_c_function(call_alias),
                               METH_FASTCALL | METH_KEYWORDS, strdup(doc.c_str())};
  const py::tuple self = py::make_tuple(function, existing, name);
  const py::object module = function.attr("__module__");
  return py::reinterpret_steal<py::object>(PyCFunction_NewEx(made, self.ptr(), module.ptr()));
}

void publish_alias(py::module_& m, As as, const char* existing, const char* name) {
  published_aliases().push_back({existing, name});
  const py::handle type(reinterpret_cast<PyObject*>(tensor_type));
  if (has(as, As::function)) {
    const py::object function = m.attr(existing);
    m.attr(name) = renamed(function, existing, name);
  }
  if (has(as, As::method)) py::setattr(type, name, type.attr(existing));
}

}  // namespace rushlight::python
