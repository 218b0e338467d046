// Python functions that a backward pass calls: on gradients before and after nodes, on leaves, and
// at its end.
#include "bindings/autograd/hooks.h"

#include "bindings/autograd/function.h"
#include "bindings/autograd/release.h"
#include "bindings/module.h"
#include "bindings/stack.h"
#include "bindings/tensor/python_tensor.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

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
    check_stack();
    if (kind == Kind::accumulated) {
      const py::object result =
          function(py::reinterpret_steal<py::object>(wrap(Tensor(Ref<Body>::share(leaf)))));
      if (!result.is_none() && !as_tensor(result.ptr()))  // a tensor is let through, unread
        fail<TypeError>("expected Variable, but hook returned '", Py_TYPE(result.ptr())->tp_name,
                        "'\nhooks after accumulation should return None");
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
  Ref<Hooks> hooks;
  std::uint64_t id;
  void remove() {
    if (!hooks) return;
    const auto match = [this](const auto& h) { return h.id == id; };
    std::erase_if(hooks->tensor, match);
    std::erase_if(hooks->before, match);
    std::erase_if(hooks->after, match);
    std::erase_if(hooks->accumulated, match);
    hooks = nullptr;
  }
};

// Hooks may refer to the tensor: such a cycle is for the collector to see.
Hooks& hooks_of(const Tensor& t, Node& node) {
  track(t);
  return node.all_hooks();
}

HookHandle hook_on_tensor(const Tensor& t, py::object f) {
  if (!wants_grad(t))
    fail<RuntimeError>("cannot register a hook on a tensor that doesn't require gradient");
  Node* node = gradient_node(*t.body());
  const std::uint64_t id = ++next_hook;
  hooks_of(t, *node).tensor.push_back(
      {t->node == node ? t->output : 0u, id,
       Ref<Hook>::adopt(new PythonHook(PythonHook::Kind::tensor, *node, std::move(f)))});
  return {node->hooks, id};
}

py::object hook_on_node(Node& node, py::object f, bool before) {
  const std::uint64_t id = ++next_hook;
  auto hook = Ref<Hook>::adopt(new PythonHook(
      before ? PythonHook::Kind::before : PythonHook::Kind::after, node, std::move(f)));
  (before ? node.all_hooks().before : node.all_hooks().after).push_back({id, std::move(hook)});
  return py::cast(HookHandle{node.hooks, id});
}

HookHandle hook_after_accumulation(const Tensor& t, py::object f) {
  if (!t.requires_grad())
    fail<RuntimeError>("cannot register a hook on a tensor that doesn't require gradient");
  if (!is_leaf(*t.body()))
    fail<RuntimeError>("post accumulate grad hooks cannot be registered on non-leaf tensors");
  AccumulateGrad* node = accumulator(*t.body());
  auto* hook = new PythonHook(PythonHook::Kind::accumulated, *node, std::move(f));
  hook->leaf = t.body();
  const std::uint64_t id = ++next_hook;
  hooks_of(t, *node).accumulated.push_back({id, Ref<Hook>::adopt(hook)});
  return {node->hooks, id};
}

// The dict that a node keeps for the user.
struct Metadata final : Attachment {
  py::dict values;
  ~Metadata() override { release_locked(values); }
};

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

}  // namespace

py::object hooks_of_tensor(const Tensor& t) {
  const Node* node = wants_grad(t) ? gradient_node(*t.body()) : nullptr;
  if (!node || !node->hooks) return py::none();
  py::object all = py::module_::import("collections").attr("OrderedDict")();
  for (const Hooks::OfOutput& h : node->hooks->tensor)
    if (h.output == (t->node == node ? t->output : 0u))
      all[py::cast(h.id)] = static_cast<const PythonHook&>(*h.hook).function;
  return all;
}

py::object hook_before(Node& node, py::object f) { return hook_on_node(node, std::move(f), true); }
py::object hook_after(Node& node, py::object f) { return hook_on_node(node, std::move(f), false); }

py::dict metadata_of(Node& node) {
  Ref<Attachment>& kept = node.all_hooks().metadata;
  if (!kept) kept = Ref<Attachment>::adopt(new Metadata);
  return static_cast<Metadata&>(*kept).values;
}

int visit_node(const Node& node, visitproc visit, void* arg) {
  if (const py::handle ctx = context_of(node)) Py_VISIT(ctx.ptr());
  if (!node.hooks) return 0;
  const Hooks& hooks = *node.hooks;
  const auto each = [&](const auto& list) {
    for (const auto& h : list) {
      const auto* hook = h.hook->is_unique() ? dynamic_cast<PythonHook*>(h.hook.get()) : nullptr;
      if (hook) Py_VISIT(hook->function.ptr());
    }
    return 0;
  };
  for (const int stop :
       {each(hooks.tensor), each(hooks.before), each(hooks.after), each(hooks.accumulated)})
    if (stop) return stop;
  if (hooks.metadata) Py_VISIT(static_cast<Metadata&>(*hooks.metadata).values.ptr());
  return 0;
}

void bind_hooks(py::module_& m) {
  py::class_<HookHandle>(m, "_HookHandle")
      .def("remove", &HookHandle::remove)
      .def_readonly("id", &HookHandle::id)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](HookHandle& h, py::args) { h.remove(); });
  m.def("_register_tensor_hook", &hook_on_tensor);
  m.def("_register_post_accumulate_grad_hook", &hook_after_accumulation);
  m.def("_queue_callback", &queue_callback);
}

}  // namespace rushlight::python
