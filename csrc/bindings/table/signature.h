// One row of the table per op:
//   op<&cumsum>(m, "cumsum(input, dim, *, dtype=None, out=None)",
//               {.autocast = kFullOnCuda, .in_place = As::method}, R"(docstring)");
// The text gives names and defaults, the C++ parameter types give the conversions (arguments.h),
// the Row says where the op is visible. All else is derived: the module function, the method, the
// in-place form, out= (where the text has it and the C++ function does not), the casts of autocast,
// the docstring, the stub and every TypeError. "-> (values, indices)" after the text names the
// parts of a result. Only lists allocate; a TypeError is no C++ exception. Several overloads:
//   overloads<&max_all, &max_dim>(m, {"max(input)", "max(input, dim, keepdim=False)"})
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "arguments.h"
#include "core/autocast.h"
#include "row.h"

namespace rushlight::python {

PyObject* raise_current() noexcept;  // the C++ exception in flight, as a Python one; returns null

struct Call;

// What one signature text says.
struct Signature {
  struct Parameter {
    std::string name;
    PyObject* key;  // interned: keywords of compiled code compare by address
    PyObject* fallback;  // null: required
  };
  std::string text, name;
  std::vector<Parameter> parameters;
  int required = 0;  // those without a default
  int positional = 0;  // those before a lone '*'
  bool variadic = false;  // the last positional one is written *name
  bool needs_keyword = false;  // one that is keyword-only has no default
  mutable bool is_alternative = false;  // one of several overloads
  int out = -1;  // the parameter out=, where it is derived: the last one
  PyTypeObject* result = nullptr;  // of a result whose parts have names
  PyTypeObject* result_out = nullptr;  // the same where they were given as out=
  const char* const* types = nullptr;  // of the C++ function's parameters, as a .pyi spells them
  const char* result_type = nullptr;
  _PyCFunctionFastWithKeywords function = nullptr, method = nullptr;  // the entry points
  PyObject* (*call)(const Call&) = nullptr;  // of the C++ function
  // The defaults side by side, None for out= after them: most calls give few arguments of many.
  std::unique_ptr<PyObject*[]> fallbacks;
  Row row;

  static Signature parse(std::string_view text, const Row& row = {});
  void derive_out();  // makes out= the last parameter
  // Of the function's own parameters: without an out= that is derived.
  std::size_t count() const { return parameters.size() - (out < 0 ? 0 : 1); }
  // Sorts a call into one value per parameter; the positionals of a *name go to `rest`, but for one
  // list or tuple.
  bool bind(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords,
            PyObject** values, std::pair<PyObject* const*, Py_ssize_t>& rest) const;
  // TypeError for a parameter. A method's own tensor is not among its arguments: positions count
  // from the one after it. `extra`: how far into a *name.
  bool wrong_type(std::size_t i, const char* expected, PyObject* got, bool is_method,
                  std::size_t extra = 0) const;
};

// Of one C++ function: reads the text and checks it against the function's `count` parameters.
void declare(Signature& s, std::string_view text, const Row& row, std::size_t count);
// "def sum(input: Tensor, ...) -> Tensor: ...", as a .pyi has it.
std::string stub_of_signature(const Signature& s);

// What is common to all entries after the function has returned its fresh result.
PyObject* named_result(PyTypeObject* type, PyObject* tuple);  // takes over the tuple
// Writes the result to what the caller gave as out=; takes over the result.
PyObject* deliver(const Signature& s, PyObject* result, PyObject* out);
// `entry` is that of the in-place form itself, `plain` that of the row.
PyObject* write_in_place(const Signature& s, _PyCFunctionFastWithKeywords entry,
                         _PyCFunctionFastWithKeywords plain, PyObject* self, PyObject* const* args,
                         Py_ssize_t n, PyObject* keywords);
// The same for a result that was made: written to `target`, which is returned. Takes over the
// result; where that is null, the error in flight gets the name of the in-place form.
PyObject* write_to_first(const Signature& s, PyObject* result, PyObject* target);
// What name_() computes from where the gradient reads it: while it is recorded, for `target` or for
// another of the arguments, a copy, with its history, as `target` itself is overwritten. A new
// reference.
PyObject* operand_in_place(PyObject* target, PyObject* const* others, Py_ssize_t n);
// An error in flight that begins with `name`() begins with `other`().
void rename_in_error(const std::string& name, const std::string& other);

// Inside a listed operation its parts compute in what they are given, as in-place forms do.
struct AutocastOff {
  Autocast before = autocast;
  AutocastOff() { autocast.on = autocast.cpu = autocast.cuda = false; }
  ~AutocastOff() { autocast = before; }
  AutocastOff(const AutocastOff&) = delete;
};

PyObject* copy_views(const Signature& s, _PyCFunctionFastWithKeywords entry,
                     _PyCFunctionFastWithKeywords function, PyObject* const* args, Py_ssize_t n,
                     PyObject* keywords);

// The extra positionals of a *name: the first, and how many.
using Rest = std::pair<PyObject* const*, Py_ssize_t>;

// One call of an entry, its arguments sorted into one value per parameter.
struct Call {
  PyObject* const* values;
  Rest rest;
  PyObject* out = Py_None;
  bool is_method = false, is_cast = false;
  // As it was written, but for a method's own tensor.
  PyObject* const* args = nullptr;
  Py_ssize_t n = 0;
  PyObject* keywords = nullptr;
};
// A call of this entry that the parser or the function refuses, with an error in flight: the result
// of the class that takes it over, or null (overrides.h).
PyObject* refused(const Signature& s, const Call& call);
// The same where the parameter at `i` cannot be read: a TypeError, unless an error is in flight.
PyObject* wrong_argument(const Signature& s, const Call& call, std::size_t i, const char* expected);
PyObject* raise_current(const Signature& s, const Call& call);
// NotImplementedError where an argument is such a dtype, or a tensor of one; but for rows that take
// complex numbers, which are called by parts (complex_parts.cpp), or null: as any other.
PyObject* call_of_stored(const Signature& s, const Call& call);
PyObject* call_by_parts(const Signature& s, const Call& call);
// Gives the parameter dtype that of `out`, where the call does not.
void take_dtype_of(const Signature& s, PyObject* out, PyObject** values);
// Calls again with the arguments as autocast casts them.
PyObject* call_with_casts(const Signature& s, const Call& call);
// Names the parts of the result, writes it to out=, keeps a subclass of Tensor; takes over the
// result, null included.
PyObject* complete(const Signature& s, PyObject* result, const Call& call);

// The arguments of a call as autocast casts them, for the length of the call.
class CastArguments {
 public:
  CastArguments(PyObject* const* values, std::size_t count, Policy policy);
  ~CastArguments();
  CastArguments(const CastArguments&) = delete;
  PyObject** values() { return values_.data(); }

 private:
  std::vector<PyObject*> values_;  // owned
};

// Positional arguments only: no names to look up, only defaults to add.
inline bool fits(const Signature& s, Py_ssize_t given) {
  return given >= s.required && !s.needs_keyword && (given <= s.positional || s.variadic);
}
// Calls a function of kCount parameters. One of these serves all functions of as many.
template <std::size_t kCount>
[[gnu::noinline]] PyObject* fill_and_call(const Signature& s, PyObject* self, PyObject* const* args,
                                          Py_ssize_t n) {
  std::array<PyObject*, kCount + 1> values;
  std::memcpy(values.data(), s.fallbacks.get(), sizeof values);  // of a known size: inline
  const Py_ssize_t bound = self ? 1 : 0, given = bound + n, last = s.positional - 1;
  if (self) values[0] = self;
  const auto filled = std::min<std::size_t>(std::size_t(std::min(given, last + 1)), kCount + 1);
  for (auto i = std::size_t(bound); i < filled; ++i) values[i] = args[i - std::size_t(bound)];
  Rest rest{};
  if (s.variadic && given > last && (given > last + 1 || !is_list(args[n - 1])))
    rest = {args + (last - bound), given - last};
  return s.call({values.data(), rest, values[kCount], bool(self), false, args, n});
}
template <std::size_t kCount>
[[gnu::noinline]] PyObject* bind_and_call(const Signature& s, PyObject* self, PyObject* const* args,
                                          Py_ssize_t n, PyObject* keywords) {
  PyObject* values[kCount + 1];
  Rest rest{};
  if (!s.bind(self, args, n, keywords, values, rest)) return nullptr;
  PyObject* const out = s.out < 0 ? Py_None : values[kCount];
  if (out != Py_None && s.row.in_dtype_of_out) [[unlikely]]
    take_dtype_of(s, out, values);
  return s.call({values, rest, out, bool(self), false, args, n, keywords});
}

// One Entry per C++ function: the two C entry points CPython calls, with all conversions inlined.
// `Tag` tells apart two signatures of one function.
template <auto F, int Tag = 0>
struct Entry;
template <class R, class... A, R (*F)(A...), int Tag>
struct Entry<F, Tag> {
  static inline Signature signature;
  static constexpr std::size_t kCount = sizeof...(A);

  static constexpr const char* types[] = {Argument<A>::stub..., ""};

  [[gnu::cold]] static void declare(std::string_view text, const Row& row) {
    signature.types = types;
    signature.result_type = stub_of<R>;
    python::declare(signature, text, row, kCount);
    signature.function = function;
    signature.method = method;
    signature.call = call;
  }

  static PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    if (n == Py_ssize_t(kCount) && !keywords && !signature.variadic && n == signature.positional)
        [[likely]]
      return call({.values = args, .rest = {}, .args = args, .n = n});
    return attempt(nullptr, args, n, keywords);
  }
  static PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return attempt(self, args, n, keywords);
  }
  static PyObject* in_place(PyObject* self, PyObject* const* args, Py_ssize_t n,
                            PyObject* keywords) {
    return write_in_place(signature, in_place, method, self, args, n, keywords);
  }
  static PyObject* in_place_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                                     PyObject* keywords) {
    return write_in_place(signature, in_place_function, function, nullptr, args, n, keywords);
  }
  static PyObject* copy(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return copy_views(signature, copy, function, args, n, keywords);
  }
  // Whether a positional argument is not such a thing by its type alone: what attempt() would find
  // after it has read the others.
  static bool excludes(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return any_excludes(args - (self ? 1 : 0), self ? 1 : 0, n + (self ? 1 : 0),
                        std::index_sequence_for<A...>{});
  }
  // As a method, or as one of several overloads.
  static PyObject* attempt(PyObject* self, PyObject* const* args, Py_ssize_t n,
                           PyObject* keywords) {
    if (!keywords && fits(signature, n + (self ? 1 : 0))) [[likely]]
      return fill_and_call<kCount>(signature, self, args, n);
    return bind_and_call<kCount>(signature, self, args, n, keywords);
  }

 private:
  static constexpr const char* expected[] = {Argument<A>::expected..., ""};
  template <class T>
  static bool excludes_one(PyObject* o) {
    if constexpr (requires { Argument<T>::excludes(o); }) return Argument<T>::excludes(o);
    return false;
  }
  template <std::size_t... I>
  static bool any_excludes(PyObject* const* args, Py_ssize_t first, Py_ssize_t end,
                           std::index_sequence<I...>) {
    return ((Py_ssize_t(I) >= first && Py_ssize_t(I) < end && excludes_one<A>(args[I])) || ...);
  }
  template <std::size_t I, class T, class Slot>
  static bool read(const Call& c, Slot& slot) {
    if constexpr (requires { Argument<T>::read_many(c.rest.first, c.rest.second, slot); })
      if (signature.variadic && int(I) + 1 == signature.positional && c.rest.first)
        return Argument<T>::read_many(c.rest.first, c.rest.second, slot);
    return Argument<T>::read(c.values[I], slot);
  }
  template <std::size_t... I>
  static PyObject* convert_and_call(const Call& c, std::index_sequence<I...>) {
    std::tuple<typename Argument<A>::Slot...> slots;
    std::size_t at = 0;
    if (!((read<I, A>(c, std::get<I>(slots)) || (at = I, false)) && ...)) [[unlikely]]
      return wrong_argument(signature, c, at, expected[at]);
    if (has_stored_dtypes && !signature.row.stored) [[unlikely]]
      if (PyObject* result = call_of_stored(signature, c)) return result;
    if constexpr (std::is_void_v<R>) {
      F(Argument<A>::pass(std::get<I>(slots))...);
      Py_RETURN_NONE;
    } else {
      return to_python(F(Argument<A>::pass(std::get<I>(slots))...));
    }
  }
  [[gnu::noinline]] static PyObject* call(const Call& c) {
    if (autocast.on && !c.is_cast && signature.row.autocast.casts() && c.out == Py_None)
        [[unlikely]]
      return call_with_casts(signature, c);
    try {
      PyObject* result = convert_and_call(c, std::index_sequence_for<A...>{});
      if (signature.result || c.out != Py_None || has_subclasses) [[unlikely]]
        return complete(signature, result, c);
      return result;
    } catch (...) {
      return raise_current(signature, c);
    }
  }
};

// The C entry points of a row.
struct EntryPoints {
  _PyCFunctionFastWithKeywords function, method, in_place = nullptr, in_place_function = nullptr,
                                                 copy = nullptr;
};

// A row as it was published: what tests, tools and the coverage page read.
struct PublishedRow {
  std::string name;
  std::vector<const Signature*> signatures;  // one for each overload
  std::string stub;  // where the signatures do not say it
  Row row;
  std::string module = {};  // that defines it in Python
};
std::vector<PublishedRow>& published_rows();
struct PublishedAlias {
  std::string existing, name;
};
std::vector<PublishedAlias>& published_aliases();

inline PyCFunction as_c_function(_PyCFunctionFastWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}
// What CPython keeps of an entry point: it lives as long as the process.
PyMethodDef* definition(const Signature& s, bool is_method, bool has_text, std::string_view doc,
                        _PyCFunctionFastWithKeywords f);

void set_public_object(PyObject* object);  // of the last definition

// Puts the entries of a row wherever its words say.
void publish(pybind11::module_& m, std::initializer_list<const Signature*> signatures,
             const EntryPoints& entries, std::string_view doc);
// A signature with entry points of its own: the pointwise ops.
void publish(pybind11::module_& m, As as, const Signature& signature, const std::string& stub,
             std::string_view doc, _PyCFunctionFastWithKeywords function,
             _PyCFunctionFastWithKeywords method);
// Defines a C entry under another name as well: aliases such as torch.absolute.
void publish_alias(pybind11::module_& m, As as, const char* existing, const char* name);

// Declares an op.
template <auto F, int Tag = 0>
[[gnu::cold]] void op(pybind11::module_& m, std::string_view text, const Row& row,
                      std::string_view doc = "") {
  using E = Entry<F, Tag>;
  E::declare(text, row);
  publish(m, {&E::signature}, {E::function, E::method, E::in_place, E::in_place_function, E::copy},
          doc);
}
template <auto F, int Tag = 0>
[[gnu::cold]] void op(pybind11::module_& m, std::string_view text, As as = As::both,
                      std::string_view doc = "") {
  op<F, Tag>(m, text, Row{.as = as}, doc);
}

// Tries signatures in order; the first whose names and types fit is called. If none fits, the error
// lists them all, with what was given.
PyObject* no_overload(const Signature* const* signatures, std::size_t count, PyObject* self,
                      PyObject* const* args, Py_ssize_t n, PyObject* keywords,
                      _PyCFunctionFastWithKeywords entry);
bool is_mismatch();  // whether bind() or wrong_type() of an overload just failed, without an error

template <auto... F>
struct Overloads {
  static PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return attempt(nullptr, args, n, keywords);
  }
  static PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return attempt(self, args, n, keywords);
  }
  static PyObject* in_place(PyObject* self, PyObject* const* args, Py_ssize_t n,
                            PyObject* keywords) {
    return write_in_place(first(), in_place, method, self, args, n, keywords);
  }
  static PyObject* in_place_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                                     PyObject* keywords) {
    return write_in_place(first(), in_place_function, function, nullptr, args, n, keywords);
  }
  static PyObject* copy(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return copy_views(first(), copy, function, args, n, keywords);
  }

 private:
  static const Signature& first() {
    const Signature* const all[] = {&Entry<F, 1>::signature...};
    return *all[0];
  }
  // Whether the call was this overload's, with a result or with an error.
  template <auto G>
  static bool took(PyObject*& result, PyObject* self, PyObject* const* args, Py_ssize_t n,
                   PyObject* keywords) {
    if (Entry<G, 1>::excludes(self, args, n)) return false;
    result = Entry<G, 1>::attempt(self, args, n, keywords);
    return result || !is_mismatch();
  }
  static PyObject* attempt(PyObject* self, PyObject* const* args, Py_ssize_t n,
                           PyObject* keywords) {
    PyObject* result = nullptr;
    const bool done = (took<F>(result, self, args, n, keywords) || ...);
    if (done) return result;
    const Signature* const signatures[] = {&Entry<F, 1>::signature...};
    return no_overload(signatures, sizeof...(F), self, args, n, keywords, self ? method : function);
  }
};

template <auto... F>
[[gnu::cold]] void overloads(pybind11::module_& m,
                             const std::array<std::string_view, sizeof...(F)>& texts,
                             const Row& row, std::string_view doc = "") {
  std::size_t i = 0;
  (Entry<F, 1>::declare(texts[i++], row), ...);
  using O = Overloads<F...>;
  publish(m, {&Entry<F, 1>::signature...},
          {O::function, O::method, O::in_place, O::in_place_function, O::copy}, doc);
}
template <auto... F>
[[gnu::cold]] void overloads(pybind11::module_& m,
                             const std::array<std::string_view, sizeof...(F)>& texts,
                             As as = As::both, std::string_view doc = "") {
  overloads<F...>(m, texts, Row{.as = as}, doc);
}

}  // namespace rushlight::python
