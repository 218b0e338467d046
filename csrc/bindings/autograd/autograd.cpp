// Autograd in Python: backward and grad, the modes, nodes and hooks. autograd.Function is in
// function.cpp.
#include <pybind11/pybind11.h>

#include "bindings/autograd/cycles.h"
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
  node->all_hooks().retained.emplace_back(self->output, Tensor());
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
    fail<RuntimeError>("'inputs' argument to backward() cannot be empty.");
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
  run(tensors_of(tensors, "tensors"), tensors_of(grad_tensors, "grad_tensors"), wanted,
      {retain_graph, create_graph, true, false});
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

// ---- hooks

// A Python function called with gradients. What it returns, if not None, replaces them.
struct PythonHook final : Hook {
  enum class Kind { tensor, before, after, accumulated } kind;
  py::object function;
  Body* leaf = nullptr;  // of `accumulated`: its node calls it only while the leaf lives
  const bool watches_leaf;
  PythonHook(Kind k, const Node& node, py::object f)
      : kind(k), function(std::move(f)), watches_leaf(node.inputs == 0) {
    if (watches_leaf) ++watched_leaves;
  }
  ~PythonHook() override {
    if (watches_leaf) --watched_leaves;
    release_locked(function);
  }

  static py::object list(const std::vector<Tensor>& grads) {
    return py::reinterpret_steal<py::object>(to_python(grads));
  }
  static void replace(Tensor& grad, py::handle by) {
    const Tensor* t = as_tensor(by.ptr());
    if (!t)
      fail<TypeError>("expected Variable, but hook returned '", Py_TYPE(by.ptr())->tp_name, "'");
    if (grad && !same(t->sizes(), grad.sizes()))
      fail<RuntimeError>("hook '", "' has changed the size of value: it was ", grad.sizes(),
                         " and is ", t->sizes());
    if (grad && (t->dtype() != grad.dtype() || t->device() != grad.device()))
      fail<RuntimeError>("hook has changed the type of value (was ", grad.dtype(), " on ",
                         grad.device(), ", is ", t->dtype(), " on ", t->device(), ")");
    grad = *t;
  }

  void call(std::vector<Tensor>& grads, std::vector<Tensor>* outputs) override {
    if (kind == Kind::accumulated) {
      const py::object result =
          function(py::reinterpret_steal<py::object>(wrap(Tensor(Ref<Body>::share(leaf)))));
      if (!result.is_none())
        fail<RuntimeError>("Tensor post accumulate grad hooks should return None.");
      return;
    }
    if (kind == Kind::tensor) {
      const py::object result = function(py::reinterpret_steal<py::object>(wrap(grads[0])));
      if (!result.is_none()) replace(grads[0], result);
      return;
    }
    const py::object result =
        kind == Kind::before ? function(list(grads)) : function(list(grads), list(*outputs));
    if (result.is_none()) return;
    const py::tuple values =
        py::isinstance<py::tuple>(result) ? py::tuple(result) : py::make_tuple(result);
    if (values.size() != grads.size())
      fail<RuntimeError>("hook has returned an incorrect number of values (got ", values.size(),
                         ", but expected ", grads.size(), ")");
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (values[i].is_none())
        grads[i] = Tensor();
      else
        replace(grads[i], values[i]);
    }
  }
};

std::uint64_t next_hook = 0;

// What register_hook returns; remove() may be called at any time, also from within the hook.
struct HookHandle {
  Ref<Node> node;
  std::uint64_t id;
  void remove() {
    if (!node || !node->hooks) return;
    const auto match = [this](const auto& h) { return h.id == id; };
    std::erase_if(node->hooks->tensor, match);
    std::erase_if(node->hooks->before, match);
    std::erase_if(node->hooks->after, match);
    node = nullptr;
  }
};

HookHandle hook_on_tensor(const Tensor& t, py::object f) {
  if (!wants_grad(t))
    fail<RuntimeError>("cannot register a hook on a tensor that doesn't require gradient");
  Node* node = gradient_node(*t.body());
  const std::uint64_t id = ++next_hook;
  node->all_hooks().tensor.push_back(
      {t->node == node ? t->output : 0u, id,
       Ref<Hook>::adopt(new PythonHook(PythonHook::Kind::tensor, *node, std::move(f)))});
  return {Ref<Node>::share(node), id};
}

HookHandle hook_on_node(Node& node, py::object f, bool before) {
  const std::uint64_t id = ++next_hook;
  auto hook = Ref<Hook>::adopt(new PythonHook(
      before ? PythonHook::Kind::before : PythonHook::Kind::after, node, std::move(f)));
  (before ? node.all_hooks().before : node.all_hooks().after).push_back({id, std::move(hook)});
  return {Ref<Node>::share(&node), id};
}

struct AccumulatedHandle {
  Ref<Node> node;
  Ref<Hook> hook;
  void remove() {
    if (!node) return;
    auto& leaf = static_cast<AccumulateGrad&>(*node);
    std::erase_if(leaf.after_accumulation, [&](const auto& h) { return h.get() == hook.get(); });
    node = nullptr;
  }
};

AccumulatedHandle hook_after_accumulation(const Tensor& t, py::object f) {
  if (!t.requires_grad())
    fail<RuntimeError>("cannot register a hook on a tensor that doesn't require gradient");
  if (!is_leaf(*t.body()))
    fail<RuntimeError>("post accumulate grad hooks cannot be registered on non-leaf tensors");
  AccumulateGrad* node = accumulator(*t.body());
  auto* hook = new PythonHook(PythonHook::Kind::accumulated, *node, std::move(f));
  hook->leaf = t.body();
  node->after_accumulation.push_back(Ref<Hook>::adopt(hook));
  return {Ref<Node>::share(node), node->after_accumulation.back()};
}

// A Python function at the end of a backward pass; released under the lock, from any thread.
void queue_callback(py::object f) {
  if (!PyCallable_Check(f.ptr()))
    fail<TypeError>("queue_callback(): a function is needed, not ", Py_TYPE(f.ptr())->tp_name);
  const std::shared_ptr<py::object> held(new py::object(std::move(f)), [](py::object* o) {
    release_locked(*o);
    delete o;
  });
  after_backward([held] { (*held)(); });
}

// ---- classes of nodes

// A class for each kind of node, so that type(x.grad_fn).__name__ tells it. Made from a spec: what
// `type(...)` makes is known to the collector, and then could not be the class of a Node's object.
PyTypeObject* class_of(const char* title) {
  static py::dict& classes = *new py::dict;
  const py::str name(title);
  if (!classes.contains(name)) {
    std::string module = "builtins.";
    if (std::string_view(title).ends_with("Backward")) {  // without a number: a Function's own
      module = py::cast<std::string>(py::type::of<Node>().attr("__module__"));
      module = module.substr(0, module.rfind('.') + 1) + "function.";
    }
    const std::string full = module + title;
    PyType_Slot none[] = {{0, nullptr}};
    PyType_Spec spec = {full.c_str(), 0, 0, Py_TPFLAGS_DEFAULT, none};
    PyObject* made = PyType_FromSpecWithBases(&spec, py::make_tuple(py::type::of<Node>()).ptr());
    if (!made) throw py::error_already_set();
    reinterpret_cast<PyTypeObject*>(made)->tp_name += module.size();  // as type(...) has it
    classes[name] = py::reinterpret_steal<py::object>(made);
  }
  return reinterpret_cast<PyTypeObject*>(py::object(classes[name]).ptr());
}

// The dict that a node keeps for the user.
struct Metadata final : Attachment {
  py::dict values;
  ~Metadata() override { release_locked(values); }
};
py::dict metadata_of(Node& n) {
  Ref<Attachment>& kept = n.all_hooks().metadata;
  if (!kept) kept = Ref<Attachment>::adopt(new Metadata);
  return static_cast<Metadata&>(*kept).values;
}

py::object next_functions(const Node& n) {
  if (n.is_second_half) {
    const Node* first = n.next(0).node.get();
    if (first && std::string_view(first->title()) == n.title()) return next_functions(*first);
  }
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
  py::class_<Node, Ref<Node>> node(m, "Node", R"(A recorded operation: what backward() calls.

    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 2).grad_fn.name()
    'MulBackward0'
)");
  node.attr("__module__") = "rushlight.autograd.graph";
  // Those that torch makes by hand have its C++ path as their name.
  node.def("name",
           [](const Node& n) {
             const std::string_view title = n.title();
             const bool is_own = title.find("Backward") == title.npos;
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
      .def("register_hook",
           [](Node& n, py::object f) { return hook_on_node(n, std::move(f), false); })
      .def("register_prehook",
           [](Node& n, py::object f) { return hook_on_node(n, std::move(f), true); })
      .def("__repr__", [](const Node& n) {
        const py::handle own(reinterpret_cast<PyObject*>(class_of(n.title())));
        const auto module = py::cast<std::string>(own.attr("__module__"));
        return text("<", module == "builtins" ? "" : module + ".", n.title(), " object at ",
                    static_cast<const void*>(&n), ">");
      });
  py::class_<HookHandle>(m, "_HookHandle")
      .def("remove", &HookHandle::remove)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](HookHandle& h, py::args) { h.remove(); });
  py::class_<AccumulatedHandle>(m, "_AccumulatedHandle").def("remove", &AccumulatedHandle::remove);

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
  m.def("_register_tensor_hook", &hook_on_tensor);
  m.def("_register_post_accumulate_grad_hook", &hook_after_accumulation);
  m.def("_queue_callback", &queue_callback);
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
  m.def("_is_inference", [](const Tensor& t) { return t->inference; });
}

}  // namespace rushlight::python
