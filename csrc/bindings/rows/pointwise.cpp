// Functions, methods, in-place methods and out= of the pointwise ops.
#include "pointwise.h"

#include <limits>
#include <pybind11/stl.h>
#include <set>
#include <sstream>

#include "bindings/data.h"
#include "bindings/module.h"
#include "bindings/table/overrides.h"

namespace py = pybind11;

namespace rushlight::python {

// ---- calls

// A method's own tensor is not among its arguments: positions count from the one after it.
static bool wrong_type(const Signature& s, int i, bool is_method, const char* expected,
                       PyObject* got) {
  PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %d) must be %s, not %s",
               s.name.c_str(), s.parameters[std::size_t(i)].name.c_str(), i + (is_method ? 0 : 1),
               expected, Py_TYPE(got)->tp_name);
  return false;
}

// Whether an operand may be a number.
static bool takes_number(const PointwiseOp& op, int i) {
  if (i == 0) return op.scalar_first;
  return !op.tensors_only && !(i == 1 && &op == &pointwise_op<Lerp>());  // its weight alone may
}

static bool read_input(const PointwiseFace& f, const Signature& s, int i, bool is_method,
                       PyObject* o, Input& in) {
  if ((in.tensor = as_tensor(o))) [[likely]]
    return true;
  if (takes_number(*f.op, i) && !(i == 0 && is_method) && Argument<Scalar>::read(o, in.scalar))
    return true;
  return PyErr_Occurred() ? false : wrong_type(s, i, is_method, "Tensor", o);
}

// Where no operand is a tensor, the first becomes one, or TypeError.
static bool have_tensor(const PointwiseFace& f, const Signature& s, PyObject* first, Input* in,
                        Tensor& made) {
  if (in[0].tensor ||
      std::any_of(in, in + f.op->inputs, [](const Input& i) { return bool(i.tensor); }))
    return true;
  if (!f.op->scalars_alone) return wrong_type(s, 0, false, "Tensor", first);
  made = scalar_tensor(in[0].scalar, dtype_of(in[0].scalar), {});
  in[0].tensor = &made;
  return true;
}

[[gnu::noinline]] static PyObject* call_of_number(const PointwiseFace& f, const Signature& s,
                                                  PyObject* first, Input* in) {
  Tensor made;
  if (!have_tensor(f, s, first, in, made)) return nullptr;
  return wrap(pointwise(*f.op, in, f.defaults, {Into::fresh, nullptr}));
}

template <class... Ops>
static bool is_any_of(const PointwiseOp& op, OpList<Ops...>) {
  return ((&op == &pointwise_op<Ops>()) || ...);
}
// The ops whose parameter is a factor of one operand.
using ScalingOps = OpList<Add, Sub, Rsub, Addcmul, Addcdiv>;
// A complex number as alpha or value, which the kernels do not take: the operand that it scales
// becomes their product, held in `made`.
static void scale_operand(const PointwiseOp& op, const char* parameter, const Tensor& number,
                          Input* in, Tensor& made) {
  const auto is_complex_operand = [](const Input& i) {
    return i.tensor && is_complex(i.tensor->dtype());
  };
  if (std::none_of(in, in + op.inputs, is_complex_operand))
    fail<RuntimeError>("For non-complex input tensors, argument ", parameter,
                       " must not be a complex number.\n", op.name,
                       "(): convert a tensor first, for example with .cfloat()");
  Input& scaled = in[&op == &pointwise_op<Rsub>() ? 0 : 1];
  const bool is_number = !scaled.tensor || (*scaled.tensor)->number;
  made = scaled.tensor ? mul(*scaled.tensor, number) : mul(number, scaled.scalar);
  if (is_number) made->number = true;
  scaled.tensor = &made;
}

static PyObject* sorted_call(const PointwiseFace& f, const Signature& s, PyObject* const* values,
                             bool is_method, Into::Kind kind) {
  const PointwiseOp& op = *f.op;
  Input in[kMaxInputs] = {};
  Scalar parameters[kMaxParameters] = {};
  for (int i = 0; i < op.inputs && i < kMaxInputs; ++i)
    if (!read_input(f, s, i, is_method, values[i], in[i])) return nullptr;
  Tensor made, scaled;
  if (!have_tensor(f, s, values[0], in, made)) return nullptr;
  for (int p = 0; p < op.parameters && p < kMaxParameters; ++p) {
    PyObject* o = values[op.inputs + p];
    AnyNumber number;
    if (is_any_of(op, ScalingOps{}) && Argument<AnyNumber>::read(o, number)) {
      if (number.complex)
        scale_operand(op, s.parameters[std::size_t(op.inputs)].name.c_str(), number.complex, in,
                      scaled);
      parameters[p] = number.complex ? Scalar(1) : number.scalar;
      continue;
    }
    if (!PyErr_Occurred() && Argument<Scalar>::read(o, parameters[p])) continue;
    if (PyErr_Occurred()) return nullptr;
    return wrong_type(s, op.inputs + p, is_method, "Number", o), nullptr;
  }
  Into into{kind, in[0].tensor};
  if (f.check && kind == Into::fresh) f.check(parameters);
  if (kind == Into::fresh && int(s.parameters.size()) > op.inputs + op.parameters) {
    PyObject* o = values[op.inputs + op.parameters];  // inplace, or out
    if (&s == &f.functional) {
      const int truth = PyObject_IsTrue(o);
      if (truth < 0) return nullptr;
      into.kind = truth ? Into::self : Into::fresh;
    } else if (o != Py_None) {
      into = {Into::out, as_tensor(o)};
      if (!into.target)
        return wrong_type(s, op.inputs + op.parameters, is_method, "Tensor", o), nullptr;
      pointwise(op, in, parameters, into);
      return Py_NewRef(o);
    }
  }
  if (into.kind == Into::self && !into.target)
    return wrong_type(s, 0, is_method, "Tensor", values[0]), nullptr;
  std::optional<Recast> cast;
  if (autocast.on && into.kind == Into::fresh) [[unlikely]]
    cast.emplace(in, op.inputs, f.policy);
  return wrap(pointwise(op, in, parameters, into));
}

static PyObject* call(const PointwiseFace& f, const Signature& s, Into::Kind kind, PyObject* self,
                      PyObject* const* args, Py_ssize_t n, PyObject* keywords);

// Complex numbers, which no Scalar holds, as tensors where a number may stand: the call with them,
// or null where there is none, or with an error in flight.
static PyObject* call_with_complex(const PointwiseFace& f, const Signature& s, Into::Kind kind,
                                   PyObject* self, PyObject* const* args, Py_ssize_t n,
                                   PyObject* keywords) {
  std::vector<PyObject*> values(args, args + n + (keywords ? PyTuple_GET_SIZE(keywords) : 0));
  std::vector<py::object> held;
  const auto is_operand = [&](std::size_t at) {
    if (at < std::size_t(n))
      at += self ? 1 : 0;
    else
      for (std::size_t k = at - std::size_t(n), i = 0; i < s.parameters.size(); ++i)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(keywords, Py_ssize_t(k)), s.parameters[i].key) == 0)
          at = i;
    return at < std::size_t(f.op->inputs) && takes_number(*f.op, int(at));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_complex_number(values[i]) || !is_operand(i)) continue;
    held.push_back(py::reinterpret_steal<py::object>(complex_as_tensor(values[i])));
    if (!held.back()) return nullptr;
    values[i] = held.back().ptr();
  }
  return held.empty() ? nullptr : call(f, s, kind, self, values.data(), n, keywords);
}

// A call with an error in flight: the result of the class that takes it over, or null.
[[gnu::cold]] static PyObject* refused_call(const PointwiseFace& f, const Signature& s,
                                            Into::Kind kind, PyObject* self, PyObject* const* args,
                                            Py_ssize_t n, PyObject* keywords) {
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyObject *error, *value, *trace;
    PyErr_Fetch(&error, &value, &trace);
    PyObject* result = call_with_complex(f, s, kind, self, args, n, keywords);
    if (!result && !PyErr_Occurred()) {
      PyErr_Restore(error, value, trace);
    } else {
      Py_XDECREF(error);
      Py_XDECREF(value);
      Py_XDECREF(trace);
      return result;
    }
  }
  const PointwiseEntries& e = *f.entries;
  const auto entry = &s == &f.functional  ? e.functional
                     : kind == Into::self ? (self ? e.in_place : e.in_place_function)
                                          : (self ? e.method : e.function);
  return refused(entry, self, args, n, keywords);
}

static PyObject* call(const PointwiseFace& f, const Signature& s, Into::Kind kind, PyObject* self,
                      PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  try {
    const int given = int(n) + (self ? 1 : 0), inputs = f.op->inputs;
    if (given == inputs && !keywords && !autocast.on)
        [[likely]] {  // inputs only: no names, no defaults to read
      Input in[kMaxInputs];
      for (int i = 0; i < inputs; ++i)
        if (!read_input(f, s, i, self, self ? (i ? args[i - 1] : self) : args[i], in[i]))
          return refused_call(f, s, kind, self, args, n, keywords);
      if (!in[0].tensor) [[unlikely]] {
        if (kind == Into::fresh) return call_of_number(f, s, args[0], in);
        wrong_type(s, 0, false, "Tensor", args[0]);
        return refused_call(f, s, kind, self, args, n, keywords);
      }
      return wrap(pointwise(*f.op, in, f.defaults, {kind, in[0].tensor}));
    }
    PyObject* values[kMaxInputs + kMaxParameters + 1];
    std::pair<PyObject* const*, Py_ssize_t> rest{};
    if (!s.bind(self, args, n, keywords, values, rest)) return nullptr;
    PyObject* result = sorted_call(f, s, values, self, kind);
    return result ? result : refused_call(f, s, kind, self, args, n, keywords);
  } catch (...) {
    return raise_current();
  }
}

PyObject* call_pointwise(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                         Py_ssize_t n, PyObject* keywords) {
  return kept_class(call(f, f.function, Into::fresh, self, args, n, keywords), self, args, n);
}
PyObject* call_pointwise_functional(const PointwiseFace& f, PyObject* const* args, Py_ssize_t n,
                                    PyObject* keywords) {
  return kept_class(call(f, f.functional, Into::fresh, nullptr, args, n, keywords), nullptr, args,
                    n);
}
PyObject* call_pointwise_in_place(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                                  Py_ssize_t n, PyObject* keywords) {
  return kept_class(call(f, f.in_place, Into::self, self, args, n, keywords), self, args, n);
}

// ---- docstrings and stubs

// The struct's words, with the shape of its result before the example.
static std::string with_shape(const PointwiseOp& op) {
  std::string doc = op.doc;
  const std::size_t example = std::min(doc.find("\n>>>"), doc.size());
  return doc.insert(example, op.inputs == 1 ? "\n\nShape:\n    that of input.\n"
                                            : "\n\nShape:\n    the operands broadcast.\n");
}

static std::string stub_of_face(const PointwiseFace& f, const Signature& s) {
  std::string text = "def " + s.name + "(";
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const Signature::Parameter& p = s.parameters[i];
    if (int(i) == s.positional) text += "*, ";
    const bool is_tensor = int(i) < f.op->inputs && !takes_number(*f.op, int(i));
    text += p.name + ": " +
            (p.name == "out"          ? "Tensor | None = ..."
             : p.name == "inplace"    ? "bool = ..."
             : int(i) >= f.op->inputs ? "float = ..."
             : is_tensor              ? "Tensor"
                                      : "Tensor | complex");
    if (i + 1 < s.parameters.size()) text += ", ";
  }
  return text + ") -> Tensor: ...";
}

// ---- publishing

static void publish_aliases(py::module_& m, const PointwiseOp& op) {
  const std::string existing(op.name);
  std::istringstream words(op.aliases);
  for (std::string word; words >> word;) {
    constexpr std::string_view special = "special.";
    if (word.starts_with(special)) {
      m.attr("_special").attr(word.c_str() + special.size()) = m.attr(existing.c_str());
    } else {
      publish_alias(m, As(op.visible), existing.c_str(), word.c_str());
      const As in_place = word == "absolute" ? As::method : As(op.in_place);  // as torch has it
      publish_alias(m, in_place, (existing + "_").c_str(), (word + "_").c_str());
    }
  }
}

using WithoutOut = OpList<Rsub>;  // as in torch
// The ops that have an argument `inplace` in torch.nn.functional.
using InplaceOps =
    OpList<Relu, Hardtanh, Elu, Selu, Celu, LeakyRelu, Silu, Mish, Hardswish, Hardsigmoid>;

static void check_bounds(const Scalar* p) {
  if (p[0].as_double() > p[1].as_double())
    fail<ValueError>("min_val cannot be greater than max_val");
}

static void publish_face(py::module_& m, const PointwiseOp& op, const PointwiseEntries& entries) {
  PointwiseFace& f = *entries.face;
  f.op = &op;
  f.entries = &entries;
  if (&op == &pointwise_op<Hardtanh>()) f.check = check_bounds;
  if (op.visible == Visible::nowhere) return;
  const std::string text = op.signature, name(op.name);
  f.policy = op.autocast == Casts::float32_on_gpu ? kFullOnCuda : Policy{};
  const std::string inside = text.substr(0, text.size() - 1);
  const char* out = text.find('*') == text.npos ? ", *, out=None)" : ", out=None)";
  if (is_any_of(op, WithoutOut{})) {
    f.function = Signature::parse(text);
  } else {
    f.function = Signature::parse(inside + out);
    f.function.out = int(f.function.parameters.size()) - 1;
  }
  f.in_place = Signature::parse(name + "_" + text.substr(text.find('(')));
  for (int p = 0; p < op.parameters; ++p)
    Argument<Scalar>::read(f.function.parameters[std::size_t(op.inputs + p)].fallback,
                           f.defaults[p]);
  const bool has_inplace = is_any_of(op, InplaceOps{});
  const unsigned own = has_inplace ? unsigned(Visible::functional) : 0;
  if (has_inplace) {
    f.functional = Signature::parse(inside + ", inplace=False)");
    publish(m, As::functional, f.functional, stub_of_face(f, f.functional), with_shape(op),
            entries.functional, nullptr);
  }
  publish(m, As(op.visible & ~own), f.function, stub_of_face(f, f.function), with_shape(op),
          entries.function, entries.method);
  publish(m, As(op.in_place ? op.in_place | own : 0), f.in_place, stub_of_face(f, f.in_place),
          name + "() in place.", entries.in_place_function, entries.in_place);
  if (op.aliases) publish_aliases(m, op);
}

// What the one parametrised test reads of an op.
static py::list describe_ops() {
  using namespace py::literals;
  static constexpr const char* kTakes[] = {"floating", "wide",     "converted", "numeric",
                                           "anything", "integers", "shifts"};
  static constexpr std::pair<unsigned, const char*> kNames[] = {{Visible::function, "function"},
                                                                {Visible::method, "method"},
                                                                {Visible::functional, "functional"},
                                                                {Visible::special, "special"}};
  const auto names_of = [](unsigned where) {
    py::set names;
    for (const auto& [bit, name] : kNames)
      if (where & bit) names.add(name);
    return names;
  };
  py::list all;
  for (const PointwiseOp* op : pointwise_ops())
    all.append(py::dict("name"_a = std::string(op->name), "signature"_a = op->signature,
                        "inputs"_a = op->inputs, "parameters"_a = op->parameters,
                        "node"_a = op->node, "bool_inputs"_a = op->bool_inputs,
                        "bool_result"_a = op->bool_result, "differentiable"_a = op->differentiable,
                        "tensors_only"_a = op->tensors_only, "exact"_a = op->exact,
                        "takes"_a = kTakes[int(op->takes)], "constant"_a = op->constant,
                        "no_gradient"_a = op->no_gradient, "scalar_first"_a = op->scalar_first,
                        "visible"_a = names_of(op->visible), "in_place"_a = names_of(op->in_place),
                        "domain"_a = std::pair(op->domain.low, op->domain.high)));
  return all;
}

// Any row by its name, the inner ones too, for the gradient tests.
static Tensor call_row(const std::string& name, const std::vector<Tensor>& inputs,
                       const std::vector<double>& parameters) {
  for (const PointwiseOp* op : pointwise_ops()) {
    if (op->name != name) continue;
    if (int(inputs.size()) != op->inputs || int(parameters.size()) != op->parameters)
      fail<TypeError>(name, " takes ", op->inputs, " inputs and ", op->parameters, " parameters");
    Input in[kMaxInputs] = {};
    Scalar numbers[kMaxParameters] = {};
    for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = as_input(inputs[i]);
    for (std::size_t i = 0; i < parameters.size(); ++i) numbers[i] = Scalar(parameters[i]);
    return pointwise(*op, in, numbers);
  }
  fail<ValueError>("no pointwise op is called ", name);
}

template <int Names>  // one row of names each
static DType result_type_op(Input first, Input second) {
  const Input both[] = {first, second};
  return result_type(both);
}

void bind_pointwise(py::module_& m) {
  warn = [](const std::string& message) {
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw py::error_already_set();
  };
  py::object special = m.attr("_special");
  for (std::size_t i = 0; i < pointwise_ops().size(); ++i)
    publish_face(m, *pointwise_ops()[i], pointwise_entries()[i]);
  bind_pointwise_variants(m);
  for (const char* name : {"logit", "polygamma", "round"}) special.attr(name) = m.attr(name);
  m.attr("_nn").attr("hardshrink") = m.attr("hardshrink");
  special.attr("multigammaln") = m.attr("mvlgamma");
  overloads<&result_type_op<0>, &result_type_op<1>, &result_type_op<2>>(
      m,
      {"result_type(tensor, other)", "result_type(scalar, tensor)",
       "result_type(scalar1, scalar2)"},
      stored(As::function), R"(The dtype of arithmetic on two tensors or numbers.

Args:
    tensor, other: a tensor, and a tensor or a scalar.
    scalar: a scalar before a tensor.
    scalar1, scalar2: two numbers.

>>> torch.result_type(torch.tensor([1, 2]), 1.5)
torch.float32)");
  m.def("_pointwise_ops", describe_ops, "The rows of the table of pointwise ops, for the tests.");
  m.def("_pointwise", call_row, "Calls a row by name, for the tests.");
}

}  // namespace rushlight::python
