// The parts of signature.h that run at import or on the way to an error.
#include "signature.h"

#include <unordered_set>

#include "bindings/data.h"
#include "bindings/warnings.h"
#include "overrides.h"
#include "return_types.h"

namespace py = pybind11;

namespace rushlight::python {

using Tensors = Argument<const std::vector<Tensor>&>;

static std::string_view strip(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// A Python literal: None, True, 3, 1e-5, 'mean', (). Only numbers and tuples are evaluated.
static PyObject* literal(std::string_view text) {
  if (text == "None") return Py_None;
  if (text == "True" || text == "False") return text == "True" ? Py_True : Py_False;
  if (text.front() == '\'')
    return PyUnicode_InternFromString(std::string(text.substr(1, text.size() - 2)).c_str());
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return PyLong_FromLong(text[0] - '0');
  const auto names = py::reinterpret_steal<py::object>(PyDict_New());
  PyObject* value =
      PyRun_String(std::string(text).c_str(), Py_eval_input, names.ptr(), names.ptr());
  if (!value) throw py::error_already_set();
  return value;
}

Signature Signature::parse(std::string_view text, const Row& row) {
  Signature s;
  s.row = row;
  const std::size_t open = text.find('(');
  if (const std::size_t arrow = text.find(" -> ("); arrow != text.npos) {
    const std::string name(text.substr(0, open));
    s.result = return_type(name, text.substr(arrow + 5));
    if (text.find(" out=") < arrow)
      s.result_out = return_type(name + "_out", text.substr(arrow + 5));
    text = text.substr(0, arrow);
  }
  s.text = text;
  s.name = text.substr(0, open);
  std::string_view rest = text.substr(open + 1, text.rfind(')') - open - 1);
  bool keyword_only = false;
  while (!rest.empty()) {
    std::size_t comma = 0;
    for (int depth = 0; comma < rest.size() && (depth || rest[comma] != ','); ++comma)
      depth += (rest[comma] == '(') - (rest[comma] == ')');
    std::string_view item = strip(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (item == "*") {
      keyword_only = true;
      continue;
    }
    const bool star = item.front() == '*';  // *name: what follows is keyword-only, as in Python
    if (star) {
      s.variadic = true;
      item.remove_prefix(1);
    }
    const std::size_t equals = item.find('=');
    std::string name(item.substr(0, equals));
    PyObject* key = PyUnicode_InternFromString(name.c_str());
    s.parameters.push_back(
        {std::move(name), key, equals == item.npos ? nullptr : literal(item.substr(equals + 1))});
    s.required += equals == item.npos;
    s.needs_keyword |= keyword_only && equals == item.npos;
    s.positional += !keyword_only;
    keyword_only |= star;
  }
  return s;
}

void Signature::derive_out() {
  std::size_t i = 0;
  while (i < parameters.size() && parameters[i].name != "out") ++i;
  if (i == parameters.size()) return;
  std::rotate(parameters.begin() + std::ptrdiff_t(i), parameters.begin() + std::ptrdiff_t(i) + 1,
              parameters.end());
  out = int(parameters.size()) - 1;
}

void declare(Signature& s, std::string_view text, const Row& row, std::size_t count) {
  if (!s.name.empty())
    throw std::logic_error(s.name + " and " + std::string(text) + " need a Tag: one function");
  const auto [types, result_type] = std::pair(s.types, s.result_type);
  s = Signature::parse(text, row);
  s.types = types;
  s.result_type = result_type;
  if (s.parameters.size() == count + 1) s.derive_out();
  if (s.count() != count)
    throw std::logic_error(s.name + ": signature text and C++ function disagree");
  s.fallbacks = std::make_unique<PyObject*[]>(count + 1);
  for (std::size_t i = 0; i < count; ++i) s.fallbacks[i] = s.parameters[i].fallback;
  s.fallbacks[count] = Py_None;
}

std::string stub_of_signature(const Signature& s) {
  const int count = int(s.count());
  std::string text = "def " + s.name + "(";
  for (int i = 0; i < count; ++i) {
    const Signature::Parameter& p = s.parameters[std::size_t(i)];
    if (i) text += ", ";
    if (i == s.positional && !s.variadic) text += "*, ";
    const bool any_number = s.variadic && i + 1 == s.positional;
    text += (any_number ? "*" : "") + p.name + ": ";
    if (any_number && s.types[i] == std::string_view(Tensors::stub)) text += "Tensor | ";
    text += s.types[i];
    if (p.fallback) text += p.fallback == Py_None ? " | None = ..." : " = ...";
  }
  if (s.out >= 0) {
    if (s.out >= s.positional && s.positional == count && !s.variadic) text += ", *";
    text += std::string(", out: ") + s.result_type + " | None = ...";
  }
  return text + ") -> " + s.result_type + ": ...";
}

// Where a call does not fit one of several overloads, making an error only to drop it would cost a
// microsecond.
static bool missed = false;

template <class... A>
static bool mismatch(const Signature* s, const char* format, A... parts) {
  if (s->is_alternative)
    missed = true;
  else
    PyErr_Format(PyExc_TypeError, format, parts...);
  return false;
}

bool is_mismatch() { return std::exchange(missed, false); }

// NumPy's name for one of our parameters, or the name itself: sum(axis=0) is sum(dim=0).
static const char* known_name(const char* keyword) {
  static constexpr const char* kNumPy[][2] = {{"axis", "dim"}, {"keepdims", "keepdim"},
                                              {"x", "input"},  {"a", "input"},
                                              {"x1", "input"}, {"x2", "other"}};
  for (const auto& [theirs, ours] : kNumPy)
    if (std::string_view(theirs) == keyword) return ours;
  return keyword;
}

// The index of a keyword among the parameters; their count if it is none of them.
static int index_of(PyObject* key, const std::vector<Signature::Parameter>& parameters) {
  const int count = int(parameters.size());
  int i = 0;
  while (i < count && parameters[std::size_t(i)].key != key) ++i;
  if (i < count) return i;  // not interned, or not ours
  for (i = 0; i < count && PyUnicode_Compare(parameters[std::size_t(i)].key, key) != 0;) ++i;
  const char* text = i < count ? nullptr : PyUnicode_AsUTF8(key);
  if (!text) {
    PyErr_Clear();
    return i;
  }
  const std::string_view known = known_name(text);
  for (i = 0; i < count && parameters[std::size_t(i)].name != known;) ++i;
  // Torch's name for an operand that may be a scalar: pow(self=2, exponent=x).
  if (i == count && known == "self")
    for (i = 0; i < count; ++i)
      if (parameters[std::size_t(i)].name == "input" && i + 1 < count &&
          (parameters[std::size_t(i) + 1].name == "other" ||
           parameters[std::size_t(i) + 1].name == "exponent"))
        break;
  return i;
}

// Arguments in an order that torch still takes, with a warning: a factor before what it multiplies.
// add(input, alpha, other), addcmul(input, value, tensor1, tensor2), addmm(beta, input, mat1, mat2)
// and addmm(beta, input, alpha, mat1, mat2); a method's own tensor is first in all of them.
struct OldOrder {
  int count = 0;  // of factors; 0: the call is none of these
  std::pair<int, PyObject*> factors[2];  // parameter, value

  OldOrder(const Signature& s, PyObject* self, PyObject* const* args, Py_ssize_t n,
           PyObject** values) {
    const Py_ssize_t own = self != nullptr, extra = own + n - s.positional;
    const auto given = [&](Py_ssize_t i) { return i < own ? self : args[i - own]; };
    const auto add = [&](const char* name, Py_ssize_t at) {
      for (int i = s.positional; i < int(s.parameters.size()); ++i)
        if (s.parameters[std::size_t(i)].name == name &&
            (PyFloat_Check(given(at)) || PyLong_Check(given(at)))) {
          factors[count++] = {i, given(at)};
          taken_[count - 1] = at;
          return true;
        }
      return false;
    };
    if (extra < 1 || extra > 2) return;
    const auto& last = s.parameters;
    const bool sum =
        std::any_of(last.begin(), last.end(), [](auto& p) { return p.name == "beta"; });
    if (sum) {
      if (add("beta", own) && extra == 2) add("alpha", 2);
    } else if (extra == 1 && !add("value", 1)) {
      add("alpha", 1);
    }
    if (count != extra) {
      count = 0;
      return;
    }
    for (Py_ssize_t i = 0, to = 0; i < own + n; ++i)
      if (i != taken_[0] && !(count == 2 && i == taken_[1])) values[to++] = given(i);
  }

 private:
  Py_ssize_t taken_[2];
};

// false with the warning as an error.
static bool warn_of_old_order(const Signature& s) {
  static std::unordered_set<const Signature*> warned;
  if (!warned.insert(&s).second && !warn_always) return true;
  const std::string text = "This overload of " + s.name +
                           " is deprecated: a factor before what it multiplies\nConsider using one "
                           "of the following signatures instead:\n\t" +
                           s.text;
  return PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) == 0;
}

// A method's own tensor, `selves`, is not counted, as torch does not.
static bool too_many(const Signature& s, int selves, Py_ssize_t n) {
  const int least = s.required - selves, most = s.positional - selves;
  if (least < most)
    return mismatch(&s, "%s() takes from %d to %d positional arguments but %zd were given",
                    s.name.c_str(), least, most, n);
  return mismatch(&s, "%s() takes %d positional argument%s but %zd %s given", s.name.c_str(), most,
                  most == 1 ? "" : "s", n, n == 1 ? "was" : "were");
}

// Names all that are missing, from the first on; torch has the plurals the wrong way round.
static bool missing(const Signature& s, PyObject* const* values, int first) {
  std::string names;
  int count = 0;
  for (std::size_t i = std::size_t(first); i < s.parameters.size(); ++i) {
    if (values[i] || s.parameters[i].fallback) continue;
    names += (count++ ? ", \"" : "\"") + s.parameters[i].name + '"';
  }
  return mismatch(&s, "%s() missing %d required positional argument%s: %s", s.name.c_str(), count,
                  count == 1 ? "s" : "", names.c_str());
}

bool Signature::bind(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords,
                     PyObject** values, std::pair<PyObject* const*, Py_ssize_t>& rest) const {
  const int count = int(parameters.size());
  PyObject* const* keyword_values = args + n;
  int filled = 0;
  std::pair<int, PyObject*> factors[2];
  int moved = 0;
  if (self) values[filled++] = self;
  if (filled + n > positional || (variadic && filled + n == positional && !is_list(args[n - 1]))) {
    if (const OldOrder old(*this, self, args, variadic ? 0 : n, values); old.count) {
      if (!warn_of_old_order(*this)) return false;
      std::copy(old.factors, old.factors + old.count, factors);
      moved = old.count;
      filled = positional;
      n = 0;
    } else if (!variadic) {
      return too_many(*this, filled, n);
    } else {
      rest = {args + (positional - 1 - filled), n - (positional - 1 - filled)};
      n = positional - filled;
    }
  }
  for (Py_ssize_t i = 0; i < n; ++i) values[filled++] = args[i];
  for (int i = filled; i < count; ++i) values[i] = nullptr;
  for (int i = 0; i < moved; ++i) values[factors[i].first] = factors[i].second;

  for (Py_ssize_t k = 0, nk = keywords ? PyTuple_GET_SIZE(keywords) : 0; k < nk; ++k) {
    PyObject* key = PyTuple_GET_ITEM(keywords, k);
    const int i = index_of(key, parameters);
    const bool unknown = i == count || (self && i == out);  // methods take no out=
    if (unknown || values[i]) {
      return mismatch(this,
                      unknown ? "%s() got an unexpected keyword argument '%U'"
                              : "%s() got multiple values for argument '%U'",
                      name.c_str(), key);
    }
    values[i] = keyword_values[k];
  }
  for (int i = 0; i < count; ++i) {
    if (values[i] || (values[i] = parameters[std::size_t(i)].fallback)) continue;
    const bool takes_none = !types || types[i] == std::string_view(Tensors::stub);
    if (variadic && i + 1 == positional && takes_none) {  // torch.cartesian_prod()
      static PyObject* empty = PyTuple_New(0);
      values[i] = empty;
      continue;
    }
    return missing(*this, values, i);
  }
  return true;
}

// A list of tensors with something else in it, in torch's words.
static bool wrong_item(const Signature& s, std::size_t i, PyObject* const* items, Py_ssize_t n) {
  PyObject* const* culprit = std::find_if_not(items, items + n - 1, as_tensor);
  return mismatch(&s, "expected Tensor as element %zd in argument %zu, but got %s\n%s(): '%s'",
                  Py_ssize_t(culprit - items), i, Py_TYPE(*culprit)->tp_name, s.name.c_str(),
                  s.parameters[i].name.c_str());
}

// By their text: equal literals of two files need not be one.
static bool is_the_text(const char* expected, const char* other) {
  return std::string_view(expected) == other;
}

static bool takes_an_int(const char* expected, bool variadic) {
  return is_the_text(expected, Argument<std::int64_t>::expected) ||
         (is_the_text(expected, Argument<Shape>::expected) && !variadic);
}

// Two kinds have the words "tuple of ints", and one of them takes no int at all: only an int that
// is too long gets an error that says so.
static bool has_more_than_64_bits(PyObject* integer) {
  int overflow;
  PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow != 0;
}

// A dtype or layout that is a name alone (python/rushlight/_importable) says why there is no tensor
// of it.
static bool refused(PyObject* got) {
  PyTypeObject* type = Py_TYPE(got);
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
      !std::string_view(type->tp_name).starts_with("Named"))
    return false;
  Py_XDECREF(PyObject_CallMethod(got, "refuse", nullptr));
  return PyErr_Occurred();
}

// The TypeError of sizes one of which is no int; false if each is one. A bool is none as the first.
static bool wrong_size(const Signature& s, std::size_t i, PyObject* const* items, Py_ssize_t n,
                       std::size_t position) {
  const auto is_size = [&](Py_ssize_t at) {
    const Tensor* t = as_tensor(items[at]);
    return t ? is_integral(t->dtype()) && t->dtype() != DType::boolean
             : PyIndex_Check(items[at]) && (at || !PyBool_Check(items[at]));
  };
  Py_ssize_t at = 0;
  while (at < n && is_size(at)) ++at;
  if (at == n) return false;
  const char *name = s.name.c_str(), *argument = s.parameters[i].name.c_str();
  const char *expected = Argument<Shape>::expected, *type = Py_TYPE(items[at])->tp_name;
  if (at)
    mismatch(&s,
             "%s(): argument '%s' failed to unpack the object at pos %zd with error \"type must be "
             "%s,but got %s\"",
             name, argument, at + 1, expected, type);
  else
    mismatch(&s,
             "%s(): argument '%s' (position %zu) must be %s, but found element of type %s at "
             "pos 0",
             name, argument, position, expected, type);
  return true;
}

bool Signature::wrong_type(std::size_t i, const char* expected, PyObject* got, bool is_method,
                           std::size_t extra) const {
  const char* type = Py_TYPE(got)->tp_name;
  if (!is_alternative && refused(got)) return false;
  if (is_the_text(expected, Tensors::expected) && is_list(got) && PySequence_Fast_GET_SIZE(got))
    return wrong_item(*this, i, PySequence_Fast_ITEMS(got), PySequence_Fast_GET_SIZE(got));
  if (!is_alternative && takes_an_int(expected, variadic) && PyLong_CheckExact(got) &&
      has_more_than_64_bits(got)) {
    PyErr_Format(PyExc_ValueError,
                 "Overflow when unpacking long long\n%s(): argument '%s' has more than 64 bits: %R",
                 name.c_str(), parameters[i].name.c_str(), got);
    return false;
  }
  if (is_the_text(expected, Argument<Shape>::expected) && is_list(got) &&
      wrong_size(*this, i, PySequence_Fast_ITEMS(got), PySequence_Fast_GET_SIZE(got),
                 i + extra + (is_method ? 0 : 1)))
    return false;
  if (int(i) >= positional)
    return mismatch(this, "%s(): argument '%s' must be %s, not %s", name.c_str(),
                    parameters[i].name.c_str(), expected, type);
  return mismatch(this, "%s(): argument '%s' (position %zu) must be %s, not %s", name.c_str(),
                  parameters[i].name.c_str(), i + extra + (is_method ? 0 : 1), expected, type);
}

// TypeError for one of the positionals of a *name.
static bool wrong_rest(const Signature& s, const char* expected, const Call& call) {
  const auto [first, count] = call.rest;
  if (is_the_text(expected, Tensors::expected))
    return wrong_item(s, std::size_t(s.positional - 1), first, count);
  if (count > 1 && wrong_size(s, std::size_t(s.positional - 1), first, count,
                              std::size_t(s.positional) - (call.is_method ? 1 : 0)))
    return false;
  PyObject* const* culprit =
      std::find_if_not(first, first + count - 1, [](PyObject* o) { return PyLong_Check(o); });
  return s.wrong_type(std::size_t(s.positional - 1), expected, *culprit, call.is_method);
}

PyObject* wrong_argument(const Signature& s, const Call& call, std::size_t i,
                         const char* expected) {
  if (s.row.by_parts && !PyErr_Occurred() && is_complex_number(call.values[i]) &&
      std::string_view(expected) == Argument<Scalar>::expected) {
    PyObject* result = call_by_parts(s, call);
    if (result) return result;
  }
  // A complex number, which no Scalar holds, becomes a tensor where it may be one.
  if (!PyErr_Occurred() && !call.rest.first && is_complex_number(call.values[i]) &&
      std::string_view(expected) == Argument<Input>::expected) {
    const auto number = py::reinterpret_steal<py::object>(complex_as_tensor(call.values[i]));
    if (!number) return nullptr;
    std::vector<PyObject*> values(call.values, call.values + s.count());
    values[i] = number.ptr();
    Call changed = call;
    changed.values = values.data();
    return s.call(changed);
  }
  if (!PyErr_Occurred()) {
    if (s.variadic && int(i) + 1 == s.positional && call.rest.first)
      wrong_rest(s, expected, call);
    else
      s.wrong_type(i, expected, call.values[i], call.is_method);
  }
  return refused(s, call);
}

PyObject* no_overload(const Signature* const* signatures, std::size_t count, PyObject* self,
                      PyObject* const* args, Py_ssize_t n, PyObject* keywords,
                      _PyCFunctionFastWithKeywords entry) {
  if (PyObject* result = refused(entry, self, args, n, keywords); result || PyErr_Occurred())
    return result;
  std::string given;
  for (Py_ssize_t i = 0; i < n + (keywords ? PyTuple_GET_SIZE(keywords) : 0); ++i)
    if (refused(args[i])) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i)
    given += (i ? ", " : "") + std::string(Py_TYPE(args[i])->tp_name);
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k)
    given += (given.empty() ? "" : ", ") +
             py::cast<std::string>(py::handle(PyTuple_GET_ITEM(keywords, k))) + "=" +
             Py_TYPE(args[n + k])->tp_name;
  std::string choices;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = signatures[i]->text;
    if (self) {  // a method's own tensor is not among its arguments
      const std::string& first = signatures[i]->parameters[0].name;
      const std::size_t at = line.find(first);
      line.erase(at, first.size());
      if (line.compare(at, 2, ", ") == 0) line.erase(at, 2);
    }
    choices += "\n * " + line;
  }
  PyErr_Format(PyExc_TypeError,
               "%s() received an invalid combination of arguments - got (%s), but expected one "
               "of:%s",
               signatures[0]->name.c_str(), given.c_str(), choices.c_str());
  return nullptr;
}

}  // namespace rushlight::python
