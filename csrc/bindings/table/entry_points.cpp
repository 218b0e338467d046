// The entry points that CPython keeps: one for each function and method, which profilers and
// __torch_function__ can watch.
#include "bindings/profile.h"
#include "bindings/stack.h"
#include "overrides.h"
#include "signature.h"

namespace rushlight::python {

// Every entry point, numbered. An array, so that a
// call finds its own at once; a definition's function stays the same for good, since the hash of a
// function is made of it: programs keep functions in dicts.
struct Watched {
  _PyCFunctionFastWithKeywords plain;
  const char* name;
  PyObject* object = nullptr;  // the public function or method
  bool reads_data = false;  // takes any object as data: no argument takes its calls over
};
template <std::size_t N>
struct Entries {
  Watched all[N];
  std::size_t count = 0;
  std::size_t add(const Watched& entry) {
    if (count == N) throw std::logic_error("raise kMaxFunctions or kMaxMethods");
    all[count] = entry;
    return count++;
  }
};
constexpr std::size_t kMaxFunctions = 1000;
constexpr std::size_t kMaxMethods = 640;  // each costs two functions to compile
static Entries<kMaxFunctions> functions;
static Entries<kMaxMethods> methods;
static Watched* last_added = nullptr;
static bool watching_entries = false;
void watch_entries(bool watched) { watching_entries = watched; }

static PyObject* call_watched(const Watched& entry, PyObject* self, PyObject* const* args,
                              Py_ssize_t n, PyObject* keywords) {
  const Py_ssize_t all = n + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (overriding && is_taken_over(self, args, all, entry.reads_data))
    return hand_over(entry.object, self, args, n, keywords, entry.reads_data);
  Span span(entry.name, self && as_tensor(self) ? self : nullptr, args, all);
  return span.end(entry.plain(self, args, n, keywords));
}
[[gnu::always_inline]] static inline PyObject* call_entry(const Watched& entry, PyObject* self,
                                                          PyObject* const* args, Py_ssize_t n,
                                                          PyObject* keywords) {
  if (!has_stack()) [[unlikely]]
    return nullptr;
  if (watching_entries) [[unlikely]]
    return call_watched(entry, self, args, n, keywords);
  return entry.plain(self, args, n, keywords);
}
// Number I as CPython calls it.
template <std::size_t I>
static PyObject* numbered(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return call_entry(functions.all[I], self, args, n, keywords);
}
template <std::size_t... I>
static PyCFunction function_at(std::size_t i, std::index_sequence<I...>) {
  static constexpr _PyCFunctionFastWithKeywords all[] = {&numbered<I>...};
  return as_c_function(all[i]);
}
// CPython 3.11 to 3.13 may end the process where a call that has been x.sum() becomes Tensor.sum():
// for plain methods it looks at the first argument before it checks that there is one. So methods
// that can be called without arguments are of the two kinds for which it does not: those that take
// none, and those that are given their class.
template <std::size_t I>
static PyObject* bare(PyObject* self, PyObject*) {
  return call_entry(methods.all[I], self, nullptr, 0, nullptr);
}
template <std::size_t I>
static PyObject* told(PyObject* self, PyTypeObject*, PyObject* const* args, std::size_t n,
                      PyObject* keywords) {
  return call_entry(methods.all[I], self, args, Py_ssize_t(n), keywords);
}
template <std::size_t... I>
static PyCFunction method_at(std::size_t i, bool takes_none, std::index_sequence<I...>) {
  static constexpr PyCFunction without[] = {&bare<I>...};
  static constexpr PyCMethod with[] = {&told<I>...};
  return takes_none ? without[i]
                    : reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(with[i]));
}

void set_public_object(PyObject* object) {
  last_added->object = Py_NewRef(object);
  const std::string_view name = last_added->name;
  last_added->reads_data = (name == "tensor" || name == "as_tensor" || name == "asarray");
}
PyObject* public_object(_PyCFunctionFastWithKeywords entry) {
  const auto in = [&](std::span<const Watched> all) -> const Watched* {
    const auto found = std::ranges::find(all, entry, &Watched::plain);
    return found == all.end() ? nullptr : &*found;
  };
  const Watched* found = in({functions.all, functions.count});
  if (!found) found = in({methods.all, methods.count});
  return found && !found->reads_data ? found->object : nullptr;
}

// "name(a, b=1)\n--\n\n": what inspect.signature reads.
PyMethodDef* definition(const Signature& s, bool is_method, bool has_text, std::string_view doc,
                        _PyCFunctionFastWithKeywords f) {
  std::string text;  // lives as long as the process
  if (has_text) {
    text = s.text;
    if (is_method && !s.parameters.empty())
      text.replace(s.name.size() + 1, s.parameters[0].name.size(), "$self");
    text += "\n--\n\n";
  }
  text += doc;
  const char *name = strdup(s.name.c_str()), *words = strdup(text.c_str());
  if (!is_method || (has_text && (s.required > 1 || s.variadic))) {
    const std::size_t i = functions.add({f, name});
    last_added = &functions.all[i];
    return new PyMethodDef{name, function_at(i, std::make_index_sequence<kMaxFunctions>()),
                           METH_FASTCALL | METH_KEYWORDS, words};
  }
  const std::size_t i = methods.add({f, name});
  last_added = &methods.all[i];
  const bool takes_none = has_text && s.parameters.size() == 1;
  return new PyMethodDef{name, method_at(i, takes_none, std::make_index_sequence<kMaxMethods>()),
                         takes_none ? METH_NOARGS : METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
                         words};
}

}  // namespace rushlight::python
