// Autograd in Python: backward and grad, the modes and nodes. Hooks are in hooks.cpp, and
// autograd.Function in function.cpp.
#include <pybind11/pybind11.h>

#include "bindings/autograd/cycles.h"
#include "bindings/autograd/hooks.h"
#include "bindings/autograd/release.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// ---- backward

// The gradient of output i, whose shape was checked, in the output's dtype.
Tensor in_dtype_of(const Tensor& root, const Tensor& given, std::size_t i) {
  check_same_device("backward", root, "output", given, "gradient");
  if (is_complex(root.dtype()) != is_complex(given.dtype()))
    fail<RuntimeError>(
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        "Mismatch in dtype: grad_output[",
        i, "] has a dtype of ", given.dtype(), " and output[", i, "] has a dtype of ", root.dtype(),
        ".\nconvert it, for example with gradient.to(output.dtype)");
  return to(given, root.dtype());
}

Tensor first_gradient(const Tensor& root, const Tensor& given, std::size_t i) {
  if (!given) {
    if (root.numel() != 1)
      fail<RuntimeError>("grad can be implicitly created only for scalar outputs\n",
                         describe(text("tensors[", i, "]").c_str(), root),
                         "; reduce it first (.sum() or .mean()), or give a gradient of its shape");
    if (!is_floating(root.dtype()))
      fail<RuntimeError>("grad can be implicitly created only for real scalar outputs but got ",
                         root.dtype());
    return ones_like(root);
  }
  if (root->node && kind_of(*given.body()) == kind_of_output(*root->node, root->output))
    return given;  // of a GradientEdge, whose shape nobody told, too
  if (!same(given.sizes(), root.sizes()))
    fail<RuntimeError>("Mismatch in shape: grad_output[", i, "] has a shape of torch.Size(",
                       given.sizes(), ") and output[", i, "] has a shape of torch.Size(",
                       root.sizes(), ").");
  return in_dtype_of(root, given, i);
}

// With rows in front, as many as those of the first.
Tensor first_gradients(const Tensor& root, const Tensor& given, std::size_t i, std::int64_t rows) {
  if (!given)
    fail<RuntimeError>("grad(is_grads_batched=True): grad_outputs[", i,
                       "] is None, and the batch has to be its first dimension");
  if (given.dim() == 0 || !same(given.sizes().subspan(1), root.sizes()))
    fail<RuntimeError>(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
        "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
        "corresponding output, but a mismatch was detected: grad_output[",
        i, "] has a shape of torch.Size(", given.sizes(), ") and output[", i,
        "] has a shape of torch.Size(", root.sizes(),
        "). If you only want some tensors in `grad_output` to be considered batched, consider "
        "using vmap.");
  if (given->shape[0] != rows)
    fail<ValueError>("vmap: Expected all tensors to have the same size in the mapped dimension, ",
                     "got sizes [", rows, ", ", given->shape[0], "] for the mapped dimension");
  return in_dtype_of(root, given, i);
}

std::vector<Tensor> run(const std::vector<Tensor>& roots, const std::vector<Tensor>& given,
                        const std::vector<Tensor>& inputs, BackwardOptions options) {
  for (const auto* list : {&roots, &inputs})
    for (const Tensor& t : *list)
      if (!t) fail<TypeError>("the tensors and inputs of a backward pass must not be None");
  std::vector<Tensor> grads;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (wants_grad(roots[i])) {
      const Tensor g = i < given.size() ? given[i] : Tensor();
      grads.push_back(options.rows ? first_gradients(roots[i], g, i, options.rows)
                                   : first_gradient(roots[i], g, i));
    } else {
      grads.emplace_back();  // run_backward explains
    }
  }
  return run_backward(roots, grads, inputs, options);
}

// A torch.autograd.graph.GradientEdge, a named tuple, and the tensor that is passed instead.
bool is_gradient_edge(py::handle o) {
  return PyTuple_Check(o.ptr()) && !PyTuple_CheckExact(o.ptr()) && py::hasattr(o, "_as_tensor");
}
Tensor tensor_of_edge(py::handle o) {
  const py::object made = o.attr("_as_tensor")();
  const Tensor* t = as_tensor(made.ptr());
  if (!t) fail<TypeError>("a GradientEdge must be made by get_gradient_edge()");
  return *t;
}

// What is given as inputs=: of a dict, its values.
py::tuple listed(py::handle o) {
  if (o.is_none()) return py::tuple();
  if (as_tensor(o.ptr()) || is_gradient_edge(o)) return py::make_tuple(o);
  const bool named = PyDict_CheckExact(o.ptr());
  return py::tuple(named ? o.attr("values")() : py::reinterpret_borrow<py::object>(o));
}

std::vector<Tensor> tensors_of(py::handle o, const char* name) {
  if (o.is_none()) return {};
  if (const Tensor* t = as_tensor(o.ptr())) return {*t};
  if (is_gradient_edge(o)) return {tensor_of_edge(o)};
  std::vector<Tensor> list;
  for (py::handle item : py::tuple(py::reinterpret_borrow<py::object>(o))) {
    const Tensor* t = as_tensor(item.ptr());
    if (!t && is_gradient_edge(item)) {
      list.push_back(tensor_of_edge(item));
      continue;
    }
    if (!t && !item.is_none())
      fail<TypeError>(name, " must be a Tensor or a sequence of Tensors, but it holds ",
                      Py_TYPE(item.ptr())->tp_name);
    list.push_back(t ? *t : Tensor());
  }
  return list;
}

// ---- small operations on tensors

void retain_grad(const Tensor& self) {
  if (!wants_grad(self))
    fail<RuntimeError>("can't retain_grad on Tensor that has requires_grad=False");
  Node* node = grad_fn(*self.body());
  if (!node || self->retains_grad) return;
  self->retains_grad = true;
  auto& retained = node->all_hooks().retained;
  for (Hooks::Retained& kept : retained)
    if (kept.output == self->output) return void(kept.adds = true);  // its .grad was set by hand
  retained.push_back({self->output, Tensor(), true});
}

Tensor requires_grad_(const Tensor& self, bool requires_grad) {
  py::setattr(py::reinterpret_steal<py::object>(wrap(self)), "requires_grad",
              py::bool_(requires_grad));
  return self;
}

// ---- backward passes

// The inputs= of a backward(). As in torch, those that are no leaves keep their gradients.
std::vector<Tensor> accumulated(py::handle given, bool create_graph) {
  const py::tuple inputs = listed(given);
  const std::vector<Tensor> wanted = tensors_of(inputs, "inputs");
  if (!given.is_none() && wanted.empty())
    fail<RuntimeError>("`inputs` argument to `backward()` cannot be empty.");
  for (py::handle item : inputs)
    if (const Tensor* t = as_tensor(item.ptr()); t && wants_grad(*t)) retain_grad(*t);
  warn_of_cycles(create_graph);
  return wanted;
}

void backward(const Tensor& self, std::optional<Tensor> gradient, std::optional<Truth> retain_graph,
              Truth create_graph, py::handle given_inputs) {
  BackwardOptions options{retain_graph.value_or(create_graph), create_graph, true, false};
  const std::vector<Tensor> wanted = accumulated(given_inputs, create_graph);
  run({self}, {gradient.value_or(Tensor())}, wanted, options);
}

void backward_many(py::handle tensors, py::handle grad_tensors, bool retain_graph,
                   bool create_graph, py::handle given_inputs) {
  const std::vector<Tensor> wanted = accumulated(given_inputs, create_graph);
  const std::vector<Tensor> roots = tensors_of(tensors, "tensors");
  const std::vector<Tensor> given = tensors_of(grad_tensors, "grad_tensors");
  if (!grad_tensors.is_none() && given.size() != roots.size())
    fail<RuntimeError>("got ", roots.size(), " tensors and ", given.size(), " gradients");
  run(roots, given, wanted, {retain_graph, create_graph, true, false});
}

std::vector<Tensor> gradients(py::handle outputs, py::handle of, py::handle grad_outputs,
                              bool retain_graph, bool create_graph, bool allow_unused, bool zeros,
                              bool in_rows) {
  const py::tuple inputs = listed(of);
  const std::vector<Tensor> wanted = tensors_of(inputs, "inputs");
  if (wanted.empty()) fail<RuntimeError>("`inputs` argument to `grad()` cannot be empty.");
  const std::vector<Tensor> given = tensors_of(grad_outputs, "grad_outputs");
  BackwardOptions options{retain_graph, create_graph, false, allow_unused};
  if (in_rows) {
    if (given.empty() || !given[0] || given[0].dim() == 0)
      fail<RuntimeError>(
          "grad(is_grads_batched=True): grad_outputs must be tensors with the batch ",
          "in their first dimension");
    options.rows = given[0]->shape[0];
  }
  const bool none = in_rows && !options.rows;
  std::vector<Tensor> out = none ? std::vector<Tensor>(wanted.size())
                                 : run(tensors_of(outputs, "outputs"), given, wanted, options);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i]) continue;
    if (zeros && is_gradient_edge(inputs[i]))
      fail<RuntimeError>("materialize_grads cannot be used when the given input is a GradientEdge");
    if (in_rows && (zeros || none))
      out[i] = rushlight::zeros(with_rows(given[0], wanted[i].sizes()), wanted[i].dtype(),
                                wanted[i].device());
    else if (zeros)
      out[i] = requires_grad_(zeros_like(wanted[i]), create_graph);
    else if (!allow_unused)
      fail<RuntimeError>("The differentiated Tensor at index ", i,
                         " appears to not have been used in the graph. "
                         "Set allow_unused=True if this is the desired behavior.\n",
                         describe(text("inputs[", i, "]").c_str(), wanted[i]));
  }
  return out;
}

// ---- classes of nodes

// grad_fn(gradient, ...): the gradients of its inputs; what is recorded of that is differentiable.
PyObject* call_grad_fn(PyObject* self, PyObject* args, PyObject* keywords) {
  try {
    if (keywords && PyDict_GET_SIZE(keywords) != 0)
      fail<TypeError>("keyword arguments are not supported");
    Node& node = py::cast<Node&>(py::handle(self));
    const auto given = py::reinterpret_borrow<py::tuple>(args);
    std::size_t count = node.outputs;  // less those at the end that have none, as indices
    while (count > 1 && kind_of_output(node, std::uint32_t(count - 1)) == 0) --count;
    if (given.size() != count)
      fail<TypeError>("expected ", count, " arguments, got ", given.size(), " instead");
    std::vector<Tensor> grads(node.outputs);
    for (std::size_t i = 0; i < count; ++i) {
      if (given[i].is_none()) continue;
      const Tensor* t = as_tensor(given[i].ptr());
      if (!t) fail<TypeError>("argument ", i, " is not a Variable");
      grads[i] = *t;
    }
    const Ref<Node> keep = Ref<Node>::share(&node);
    const std::vector<Tensor> made = call_node(node, std::move(grads));
    if (made.size() == 1) return to_python(made[0]);
    py::tuple all(made.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      all[i] = py::reinterpret_steal<py::object>(to_python(made[i]));
    return all.release().ptr();
  } catch (...) {
    return raise_current();
  }
}

// For the collector: what a node keeps for the user, where only its Python object holds the node.
Node* node_held_by(PyObject* self) {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  if (!instance->simple_layout || !instance->simple_holder_constructed) return nullptr;
  auto* node = static_cast<Node*>(instance->simple_value_holder[0]);
  return node && node->is_unique() ? node : nullptr;
}
int traverse_node(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Node* node = node_held_by(self);
  return node ? visit_node(*node, visit, arg) : 0;
}
int clear_node(PyObject* self) {
  Node* node = node_held_by(self);
  if (node && node->hooks) node->hooks->clear();
  return 0;
}

// A class for each kind of node, so that type(x.grad_fn).__name__ tells it. Made from a spec: what
// `type(...)` makes has a dict, and then could not be the class of a Node's object.
PyTypeObject* class_of(const char* title) {
  static py::dict& classes = *new py::dict;
  const py::str name(title);
  if (!classes.contains(name)) {
    std::string module = "builtins.";
    const bool is_own = std::string_view(title).ends_with("Backward");  // of a Function: no number
    if (is_own) {
      module = py::cast<std::string>(py::type::of<Node>().attr("__module__"));
      module = module.substr(0, module.rfind('.') + 1) + "function.";
    }
    const std::string full = module + title;
    // A Function's own node is no function in torch either.
    PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_grad_fn)}, {0, nullptr}};
    PyType_Slot none[] = {{0, nullptr}};
    PyType_Spec spec = {full.c_str(), 0, 0, Py_TPFLAGS_DEFAULT, is_own ? none : slots};
    PyObject* made = PyType_FromSpecWithBases(&spec, py::make_tuple(py::type::of<Node>()).ptr());
    if (!made) throw py::error_already_set();
    reinterpret_cast<PyTypeObject*>(made)->tp_name += module.size();  // as type(...) has it
    classes[name] = py::reinterpret_steal<py::object>(made);
  }
  return reinterpret_cast<PyTypeObject*>(py::object(classes[name]).ptr());
}

py::object next_functions(const Node& n) {
  if (const Node* first = n.first_half()) return next_functions(*first);
  py::tuple out(n.inputs);
  for (std::size_t i = 0; i < n.inputs; ++i) {
    const Edge& e = n.next(i);
    out[i] = py::make_tuple(e.node ? node_object(*e.node) : py::object(py::none()), e.output);
  }
  return out;
}

}  // namespace

py::object node_object(Node& n) {
  py::object o = py::cast(Ref<Node>::share(&n));
  PyTypeObject* plain = Py_TYPE(o.ptr());
  if (plain == reinterpret_cast<PyTypeObject*>(py::type::of<Node>().ptr())) {
    PyTypeObject* own = class_of(n.title());  // of the same layout: it has no slots
    Py_INCREF(own);
    Py_SET_TYPE(o.ptr(), own);
    Py_DECREF(plain);
  }
  return o;
}

void bind_autograd(py::module_& m) {
  const py::custom_type_setup collected([](PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = traverse_node;
    type->ht_type.tp_clear = clear_node;
  });
  py::class_<Node, Ref<Node>> node(m, "Node", collected,
                                   R"(A recorded operation: what backward() calls.

    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 2).grad_fn.name()
    'MulBackward0'
)");
  node.attr("__module__") = "rushlight.autograd.graph";
  // Those that torch makes by hand have its C++ path as their name.
  node.def("name",
           [](const Node& n) {
             const std::string_view title = n.title();
             const bool is_own = title.find("Backward") == title.npos || title == "CopyBackwards";
             return is_own ? text("torch::autograd::", title) : std::string(title);
           })
      .def_property_readonly("next_functions", &next_functions)
      .def_property_readonly("metadata", &metadata_of)
      .def_property_readonly("variable",
                             [](Node& n) -> Tensor {
                               auto* leaf = dynamic_cast<AccumulateGrad*>(&n);
                               if (!leaf)
                                 fail<AttributeError>("'", n.title(),
                                                      "' object has no attribute 'variable'");
                               return leaf->leaf ? Tensor(Ref<Body>::share(leaf->leaf)) : Tensor();
                             })
      .def("register_hook", [](Node& n, py::object f) { return hook_after(n, std::move(f)); })
      .def("register_prehook", [](Node& n, py::object f) { return hook_before(n, std::move(f)); })
      .def("__repr__", [](const Node& n) {
        const py::handle own(reinterpret_cast<PyObject*>(class_of(n.title())));
        const auto module = py::cast<std::string>(own.attr("__module__"));
        return text("<", module == "builtins" ? "" : module + ".", n.title(), " object at ",
                    static_cast<const void*>(&n), ">");
      });
  bind_hooks(m);

  const py::handle type(reinterpret_cast<PyObject*>(tensor_type));
  op<&backward>(
      m, "backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None)",
      stored(As::method),
      R"(Adds the gradients of self with respect to the leaves of its graph to their .grad.

Args:
    gradient: the gradient with respect to self; may be left out if self has one element.
    retain_graph: whether the graph is kept, so that backward can run again; None for
        create_graph.
    create_graph: whether backward itself is recorded, for second derivatives.
    inputs: the leaves that get gradients; None for all.

Raises:
    RuntimeError: if nothing was recorded, or a saved tensor was modified in place.

>>> x = torch.tensor(3.0, requires_grad=True)
>>> (x * x).backward()
>>> x.grad
tensor(6.))");
  op<&retain_grad>(m, "retain_grad(self)", with_complex(As::method),
                   R"(Makes backward() fill .grad of a tensor that is not a leaf.

>>> x = torch.ones(1, requires_grad=True)
>>> y = 2 * x
>>> y.retain_grad()
>>> y.backward()
>>> y.grad
tensor([1.]))");
  op<&requires_grad_>(m, "requires_grad_(self, requires_grad=True)", stored(As::method),
                      "Sets requires_grad and returns self.\n\n>>> "
                      "torch.ones(1).requires_grad_().requires_grad\nTrue");
  m.def("_backward", &backward_many);
  m.def("_grad",
        [](py::handle a, py::handle b, py::handle c, bool d, bool e, bool f, bool z, bool rows) {
          return py::reinterpret_steal<py::object>(to_python(gradients(a, b, c, d, e, f, z, rows)));
        });
  m.def("_current_graph_task_id", [] {
    const std::uint64_t pass = current_backward();
    return pass ? std::int64_t(pass) : -1;
  });
  m.def("is_grad_enabled", &grad_enabled, R"(True where operations are being recorded.

    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
)");
  m.def("_set_grad_enabled", &set_grad_enabled);
  m.def("is_inference_mode_enabled", &inference_enabled, R"(True inside inference_mode().

    >>> with torch.inference_mode():
    ...     torch.is_inference_mode_enabled()
    True
)");
  m.def("_set_inference_mode", &set_inference_enabled);
  m.def("_set_forward_level", &set_forward_level);
  m.def("_mark_tangent", &mark_tangent);
  m.def("_is_inference", [](const Tensor& t) { return t->inference; });
}

}  // namespace rushlight::python
