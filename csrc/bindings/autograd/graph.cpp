// What torch.autograd.graph needs below Python: hooks of saved tensors, and a look at the pass that
// is running.
#include <pybind11/pybind11.h>

#include "autograd/saved_hooks.h"
#include "bindings/autograd/function.h"
#include "bindings/autograd/release.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/stack.h"
#include "bindings/tensor/python_tensor.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct PythonPacked final : PackedValue {
  py::object value, function;
  PythonPacked(py::object v, py::object f) : value(std::move(v)), function(std::move(f)) {}
  ~PythonPacked() override { release_locked(value, function); }
  Tensor unpack() override {
    const GilHeld gil;
    check_stack();
    const py::object result = function(value);
    const Tensor* t = as_tensor(result.ptr());
    if (!t)
      fail<TypeError>("Output of saved tensor unpack_hook expected to be a Tensor but got result ",
                      "of type ", Py_TYPE(result.ptr())->tp_name);
    return *t;
  }
};

struct PythonSavedHooks final : SavedHooks {
  py::object pack_function, unpack_function;
  PythonSavedHooks(py::object p, py::object u)
      : pack_function(std::move(p)), unpack_function(std::move(u)) {}
  ~PythonSavedHooks() override { release_locked(pack_function, unpack_function); }
  Ref<PackedValue> pack(const Tensor& t, const Tensor& plain) override {
    const GilHeld gil;
    check_stack();
    const auto given = py::reinterpret_steal<py::object>(wrap(t));
    py::object value = pack_function(given);
    if (value.is(given)) value = py::reinterpret_steal<py::object>(wrap(plain));
    return Ref<PackedValue>::adopt(new PythonPacked(std::move(value), unpack_function));
  }
};

// The hooks that this thread has entered, innermost last, and why it may enter none.
struct Stack {
  std::vector<Ref<SavedHooks>> hooks;
  std::optional<std::string> disabled;
};
Stack& stack() {
  static thread_local auto* of_thread = new Stack;  // never destroyed: a thread may outlive Python
  return *of_thread;
}

void push(py::object pack, py::object unpack) {
  Stack& s = stack();
  if (s.disabled) fail<RuntimeError>(*s.disabled);
  for (const auto& [name, f] : {std::pair("pack_hook", pack), std::pair("unpack_hook", unpack)})
    if (!PyCallable_Check(f.ptr()))
      fail<TypeError>("saved_tensors_hooks(): argument '", name, "' must be callable, not ",
                      Py_TYPE(f.ptr())->tp_name);
  if (s.hooks.size() >= 1000)
    fail<RuntimeError>("saved_tensors_hooks: more than 1000 pairs of hooks are on in this thread");
  s.hooks.push_back(
      Ref<SavedHooks>::adopt(new PythonSavedHooks(std::move(pack), std::move(unpack))));
  saved_hooks = s.hooks.back().get();
}

void pop() {
  Stack& s = stack();
  if (s.hooks.empty()) fail<RuntimeError>("saved_tensors_hooks: no hooks are on in this thread");
  const Ref<SavedHooks> last = std::move(s.hooks.back());
  s.hooks.pop_back();
  saved_hooks = s.hooks.empty() ? nullptr : s.hooks.back().get();
  forget_saved();
}

// Gives back the message that was in force.
std::optional<std::string> disable(std::optional<std::string> message) {
  Stack& s = stack();
  if (message && !s.hooks.empty()) fail<RuntimeError>(*message);
  return std::exchange(s.disabled, std::move(message));
}

// A tensor that has the history of one output of a node.
Tensor edge_tensor(Node& node, std::size_t output, const Tensor& like) {
  if (output >= node.outputs)
    fail<IndexError>("GradientEdge: output_nr ", output, " of ", node.title(), ", which has ",
                     node.outputs);
  Tensor t = alias(like);
  node.retain();
  t->node = &node;
  t->output = std::uint16_t(output);
  t->requires_grad = true;
  return t;
}

// ---- grad_fn._saved_self and grad_fn._raw_saved_self

// Hooks of a node's result, which the node keeps without its history: the hook sees it.
struct HooksOfResult final : SavedHooks {
  Ref<SavedHooks> hooks;
  Node& node;
  HooksOfResult(Ref<SavedHooks> h, Node& n) : hooks(std::move(h)), node(n) {}
  Ref<PackedValue> pack(const Tensor& t, const Tensor& plain) override {
    return hooks->pack(edge_tensor(node, 0, t), plain);
  }
};

// A tensor that a node keeps, itself: hooks can be put on it.
struct SavedTensor {
  Ref<Node> node;
  std::size_t at;
  void register_hooks(py::object pack, py::object unpack) {
    Saved* const slot = node->saved_slot(at);
    if (node->released)
      fail<RuntimeError>("Calling register_hooks on a saved tensor after it has been freed.");
    auto hooks = Ref<SavedHooks>::adopt(new PythonSavedHooks(pack, unpack));
    if (node->saved_names()[at] == "result")
      hooks = Ref<SavedHooks>::adopt(new HooksOfResult(std::move(hooks), *node));
    slot->hook(*hooks);
  }
};

template <class T>
PyObject* shown(const T& value) {
  return to_python(value);
}
PyObject* shown(const std::vector<std::int64_t>& values) {
  py::tuple all(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) all[i] = values[i];
  return all.release().ptr();
}

py::object saved_attribute(Node& node, std::string_view attribute) {
  constexpr std::string_view prefix = "_saved_", raw = "_raw_saved_";
  const bool is_raw = attribute.starts_with(raw),
             is_saved = is_raw || attribute.starts_with(prefix);
  const std::string_view name =
      is_saved ? attribute.substr((is_raw ? raw : prefix).size()) : std::string_view();
  const std::vector<std::string> names = is_saved ? node.saved_names() : std::vector<std::string>();
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "-") continue;
    known += text(known.empty() ? "" : ", ", "_saved_", names[i]);
    if (names[i] != name) continue;
    if (!is_raw) {
      const ShownScope scope;
      return std::visit(
          [](const auto& value) { return py::reinterpret_steal<py::object>(shown(value)); },
          node.saved_value(i));
    }
    if (node.saved_slot(i)) return py::cast(SavedTensor{Ref<Node>::share(&node), i});
  }
  // A Function's grad_fn is its ctx too.
  if (const py::handle ctx = context_of(node); ctx && !attribute.starts_with("__")) {
    const py::str own(attribute.data(), attribute.size());
    if (PyObject* found = PyObject_GetAttr(ctx.ptr(), own.ptr())) {
      auto value = py::reinterpret_steal<py::object>(found);
      if (attribute != "apply") return value;
      // The node has what backward() asks its ctx for.
      return py::cpp_function(
          [value, kept = Ref<Node>::share(&node)](const py::args& grads) { return value(*grads); });
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
  }
  fail<AttributeError>("'", node.title(), "' object has no attribute '", attribute, "'",
                       !is_saved       ? ""
                       : names.empty() ? "\nthis node does not show what it keeps"
                                       : text("\nit shows ", known));
}

// Writes to a Function's ctx what its node's class does not have; a null value deletes.
void set_attribute(py::object self, py::str attribute, py::handle value) {
  const py::handle ctx = context_of(py::cast<const Node&>(self));
  const bool in_ctx = ctx && !py::hasattr(py::type::of(self), attribute);
  const int failed = in_ctx ? PyObject_SetAttr(ctx.ptr(), attribute.ptr(), value.ptr())
                            : PyObject_GenericSetAttr(self.ptr(), attribute.ptr(), value.ptr());
  if (failed) throw py::error_already_set();
}

py::list saved_attributes(const Node& node) {
  py::list names;
  for (const std::string& name : node.saved_names())
    if (name != "-") names.append("_saved_" + name);
  return names;
}

// The tensors with a history that only says why no gradient goes through it: a node whose inputs
// they are. Those that are None stay so.
py::tuple delayed_error(const std::string& message, const py::list& tensors) {
  std::vector<Tensor> inputs(tensors.size()), outs(tensors.size());
  for (std::size_t i = 0; i < outs.size(); ++i)
    if (const Tensor* t = as_tensor(tensors[i].ptr())) {
      inputs[i] = *t;
      outs[i] = alias(*t);
    }
  record_many(
      "Error", outs,
      [message](std::span<Tensor>, Node&) -> Gradients { fail<RuntimeError>(message); }, inputs);
  return py::tuple(py::reinterpret_steal<py::object>(to_python(outs)));
}

py::tuple edge_of(const Tensor& t) {
  Node* node = gradient_node(*t.body());
  if (!node)
    fail<RuntimeError>(
        "It is not possible to get the gradient edge for a Tensor that does not require "
        "gradients\n",
        describe("tensor", t), "; call requires_grad_() on it first");
  return py::make_tuple(node_object(*node), t->node == node ? t->output : 0);
}

}  // namespace

void bind_graph(py::module_& m) {
  const py::object node = py::type::of<Node>();
  node.attr("__getattr__") = py::cpp_function(&saved_attribute, py::is_method(node));
  node.attr("__setattr__") = py::cpp_function(&set_attribute, py::is_method(node));
  node.attr("__delattr__") = py::cpp_function(
      [](py::object self, py::str attribute) { set_attribute(self, attribute, py::handle()); },
      py::is_method(node));
  node.attr("__dir__") = py::cpp_function(
      [](py::object self) {
        const auto inherited = py::module_::import("builtins").attr("object").attr("__dir__")(self);
        return inherited + saved_attributes(py::cast<const Node&>(self));
      },
      py::is_method(node));
  py::class_<SavedTensor>(m, "_SavedTensor", "What a node keeps: grad_fn._raw_saved_self.")
      .def("register_hooks", &SavedTensor::register_hooks, py::arg("pack_hook"),
           py::arg("unpack_hook"));
  m.def("_push_saved_tensors_hooks", &push);
  m.def("_pop_saved_tensors_hooks", &pop);
  m.def("_disable_saved_tensors_hooks", [](py::object message) -> py::object {
    const auto before =
        disable(message.is_none() ? std::optional<std::string>() : py::cast<std::string>(message));
    return before ? py::object(py::str(*before)) : py::object(py::none());
  });
  m.def("_increment_version", [](const Tensor& t) {
    if (t->inference && !inference_enabled())
      fail<RuntimeError>("Inference tensors do not track version counter.");
    ++t->version();
  });
  m.def("_gradient_edge", &edge_of);
  m.def("_delayed_error", &delayed_error);
  m.def("_edge_tensor", &edge_tensor);
  m.def("_current_backward", &current_backward);
  m.def("_backward_reaches", &backward_reaches);
  m.def("_is_checkpoint_valid", &backward_is_whole);
}

}  // namespace rushlight::python
