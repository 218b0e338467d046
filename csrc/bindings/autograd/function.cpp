// autograd.Function: nodes whose backward is Python. Note: the node owns the ctx
// object, never the reverse; what ctx.save_for_backward was given is moved into the node after
// forward, outputs without their history, so no cycle keeps the graph alive.
#include "bindings/autograd/function.h"

#include <pybind11/pybind11.h>

#include "autograd/seen_gradients.h"
#include "bindings/autograd/release.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/stack.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// What a ctx has of its node, which may be gone before it.
struct NodeLink {
  struct FunctionNode* node = nullptr;
};

struct FunctionNode final : Node {
  std::string title_text;
  std::shared_ptr<NodeLink> link;
  py::object function;  // the class
  py::object ctx;
  struct Kept {
    Saved input;
    SavedOutput output;
    bool is_output = false, is_none = false;
  };
  std::vector<Kept> kept;
  struct Like {  // what the gradient of this input must look like
    Shape shape;
    DType dtype = DType::float32;
    Device device;
    bool is_tensor = false;
  };
  std::vector<Like> of_inputs, of_outputs;
  bool materialize = true;

  FunctionNode() : Node("") {}
  ~FunctionNode() override {
    if (link) link->node = nullptr;
    if (ctx && Py_IsInitialized()) {
      const GilHeld gil;
      const py::error_scope pending;  // the graph may die while an error is raised
      if (PyObject_SetAttrString(ctx.ptr(), "_node", Py_None) != 0) PyErr_Clear();
    }
    release_locked(ctx, function);
  }
  void release_saved() override {
    if (kept.empty()) return;
    kept.clear();
    released = true;
  }

  py::tuple unpack() {
    if (released) fail_second_backward();
    const ShownScope scope;
    const Ref<Node> self = Ref<Node>::share(this);
    const std::vector<Kept> held = kept;  // hooks may run this node, or free it
    py::tuple out(held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Kept& k = held[i];
      out[i] = k.is_none ? py::object(py::none())
                         : py::reinterpret_steal<py::object>(
                               wrap(k.is_output ? k.output.get(*this) : k.input.get()));
    }
    return out;
  }

  Gradients backward(std::span<Tensor> grads) override {
    const GilHeld gil;
    check_stack();
    py::tuple given(grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      Tensor g = seen_gradient(grads[i]);
      const Like& like = of_outputs[i];
      if (!g && materialize && like.is_tensor) g = zeros(like.shape, like.dtype, like.device);
      given[i] = py::reinterpret_steal<py::object>(wrap(g));
    }
    const py::object result = function.attr("_run_backward")(ctx, given);
    const py::tuple values =
        py::isinstance<py::tuple>(result) ? py::tuple(result) : py::make_tuple(result);
    std::size_t count = values.size();
    while (count > of_inputs.size() && values[count - 1].is_none()) --count;
    if (count != of_inputs.size() &&
        !(count < of_inputs.size() && values.size() == of_inputs.size()))
      fail<RuntimeError>("function ", title(),
                         " returned an incorrect number of gradients (expected ", of_inputs.size(),
                         ", got ", values.size(), ")");
    std::vector<Tensor> out(of_inputs.size());
    for (std::size_t i = 0; i < of_inputs.size(); ++i) {
      if (values[i].is_none()) continue;
      const Tensor* g = as_tensor(values[i].ptr());
      if (!g)
        fail<RuntimeError>("expected Variable or None (got ", Py_TYPE(values[i].ptr())->tp_name,
                           ")\nfunction ", title(), " returned this as its gradient at index ", i);
      if (!has_input(i)) continue;
      out[i] = fitted(*g, of_inputs[i], i);
      if (out[i].is_same(*g)) out[i] = returned_gradient(*g);
    }
    return Gradients(std::move(out));
  }

 private:
  Tensor fitted(const Tensor& g, const Like& like, std::size_t i) const {
    if (g.device() != like.device)
      fail<RuntimeError>("Function ", title(), " returned an invalid gradient at index ", i,
                         " - expected device ", like.device, " but got ", g.device());
    Tensor out = g;
    if (!same(g.sizes(), like.shape)) {
      if (!can_broadcast_to(like.shape, g.sizes()))
        fail<RuntimeError>("Function ", title(), " returned an invalid gradient at index ", i,
                           " - got ", g.sizes(), " but expected shape compatible with ",
                           like.shape);
      out = sum_to(g, like.shape);
    }
    return to(out, like.dtype);
  }
};

FunctionNode::Like like_of(const Tensor& t) { return {t.shape(), t.dtype(), t.device(), true}; }

bool holds(py::handle list, const Tensor& t) {
  if (list.is_none()) return false;
  for (py::handle item : list)
    if (const Tensor* other = as_tensor(item.ptr()); other && other->is_same(t)) return true;
  return false;
}

// An input that was written to must be an output, or its history would miss the write.
void check_dirty(py::handle dirty, py::tuple args, py::tuple outputs, bool records) {
  if (dirty.is_none()) return;
  for (py::handle item : dirty) {
    const Tensor* t = as_tensor(item.ptr());
    if (!t) continue;
    constexpr const char* words =
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have "
        "been mutated should be passed to ctx.mark_dirty().";
    if (records && !holds(args, *t) && PyErr_WarnEx(PyExc_UserWarning, words, 1) != 0)
      throw py::error_already_set();
    if (!holds(outputs, *t))
      fail<RuntimeError>(
          "Some elements marked as dirty during the forward method were not returned as output. "
          "The inputs that are modified inplace must all be outputs of the Function.");
  }
}

// An input that forward() returned, as a tensor of its own; of a class of the user's too.
py::object returned_as_it_is(py::handle input) {
  const GradMode off(false);
  if (py::type::handle_of(input).is(py::handle(reinterpret_cast<PyObject*>(tensor_type))))
    return py::reinterpret_steal<py::object>(wrap(alias(*as_tensor(input.ptr()))));
  py::object own = input.attr("view_as")(input);
  return as_tensor(own.ptr()) ? own : py::reinterpret_borrow<py::object>(input);
}

// The node of a write through a view takes its first input for what was written.
void check_written_view(const Tensor& out, py::tuple args, std::size_t outputs, const char* title) {
  if (outputs > 1)
    fail<RuntimeError>(
        "If your Function modifies inplace an input that is a view of another Tensor, your "
        "Function ",
        "cannot return more than one Tensor. This is not supported by the current autograd "
        "engine. ",
        "You should either make sure the input is not a view (using .clone() for example) or make ",
        "your Function only return one Tensor (potentially splitting it into two Functions: one ",
        "doing the inplace that returns a single Tensor and a second one that does the other ",
        "operations).");
  if (const Tensor* first = as_tensor(args[0].ptr()); !first || !first->is_same(out))
    fail<RuntimeError>("a view was modified in place by ", title,
                       ", whose first argument it is not");
}

// Gives the outputs of a forward that ran without recording their history.
py::object finish(py::object function, py::object ctx, py::tuple args, py::object result,
                  bool records) {
  const bool single = !py::isinstance<py::tuple>(result);
  const py::tuple outputs = single ? py::make_tuple(result) : py::tuple(result);
  if (single && !as_tensor(result.ptr()) && records && !result.is_none() &&
      py::isinstance<py::list>(result))
    fail<TypeError>(py::cast<std::string>(function.attr("__name__")),
                    ".forward: expected to return a Tensor or a tuple of Tensors");
  const py::object dirty = ctx.attr("_dirty"), fixed = ctx.attr("_non_differentiable");
  check_dirty(dirty, args, outputs, records);
  auto node = Ref<Node>::adopt(static_cast<Node*>(new FunctionNode));
  auto& n = static_cast<FunctionNode&>(*node);
  n.title_text = py::cast<std::string>(function.attr("__name__")) + "Backward";
  n.name = n.title_text.c_str();
  n.function = function;
  n.ctx = ctx;
  n.materialize = py::cast<bool>(ctx.attr("_materialize_grads"));
  if (records) {
    for (py::handle a : args) {
      const Tensor* t = as_tensor(a.ptr());
      n.add_input(t ? *t : Tensor());
      n.of_inputs.push_back(t ? like_of(*t) : FunctionNode::Like{});
    }
  }
  records = records && n.inputs;  // a node without any would count as a leaf's
  if (outputs.size() > 65535) fail<RuntimeError>("a Function can return at most 65535 outputs");
  n.outputs = std::uint16_t(outputs.size());
  py::tuple finished(outputs.size());
  std::vector<Tensor> made(outputs.size());
  std::vector<bool> own(outputs.size());  // its gradient goes to the node
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* t = as_tensor(outputs[i].ptr());
    n.of_outputs.push_back(t ? like_of(*t) : FunctionNode::Like{});
    if (!t) {
      finished[i] = outputs[i];
      continue;
    }
    Tensor out = *t;
    const bool written = holds(dirty, out), is_input = holds(args, out);
    py::object own_object;
    if (is_input && !written) {  // an input returned as it is: a new tensor of ours
      own_object = returned_as_it_is(outputs[i]);
      out = *as_tensor(own_object.ptr());
      out->base = (*t)->base ? (*t)->base : t->ref();
      out->node_version = out->version();
    }
    const bool differentiable = records && is_differentiable(out.dtype()) && !holds(fixed, *t);
    bool through_view = false;
    if (written && records) {
      check_inplace(out, true, n.title());
      through_view = differentiable && bool(out->base);
      if (through_view) check_written_view(out, args, outputs.size(), n.title());
      if (!through_view) ++out->version();
    }
    if (out->base && !written)
      out->unrecorded = outputs.size() > 1 ? Unrecorded::part : Unrecorded::function;
    if (through_view) {
      finish_inplace(out, node);
      own[i] = true;
    } else if (differentiable) {
      attach(out, node.get(), std::uint16_t(i));
      own[i] = true;
    }
    made[i] = out;
    finished[i] = py::reinterpret_steal<py::object>(wrap(out));
    if (own[i]) track(out);  // ctx may refer to it
  }
  const py::object saved = ctx.attr("_to_save");
  if (!saved.is_none()) {
    for (py::handle item : saved) {
      FunctionNode::Kept k;
      const Tensor* t = as_tensor(item.ptr());
      if (!t) {
        if (!item.is_none())
          fail<TypeError>("save_for_backward can only save variables, but argument is of type ",
                          Py_TYPE(item.ptr())->tp_name);
        k.is_none = true;
      } else {
        std::size_t at = 0;
        while (at < made.size() && !(made[at] && made[at].is_same(*t))) ++at;
        if (at < made.size() && own[at]) {
          k.output = SavedOutput(made[at], std::uint16_t(at));
          k.is_output = true;
        } else {
          k.input = Saved(*t);
          check_saved();
        }
      }
      n.kept.push_back(std::move(k));
    }
  }
  pack_saved();
  py::setattr(ctx, "_to_save", py::none());
  n.link = std::make_shared<NodeLink>(NodeLink{&n});
  py::setattr(ctx, "_node", py::cast(n.link));
  if (single) return finished[0];
  return finished;
}

}  // namespace

py::handle context_of(const Node& n) {
  const auto* function = dynamic_cast<const FunctionNode*>(&n);
  return function ? py::handle(function->ctx) : py::handle();
}

void bind_function(py::module_& m) {
  m.def("_needs_grad", [](py::tuple args) {
    py::tuple out(args.size());
    bool any = false, tangents = false;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Tensor* t = as_tensor(args[i].ptr());
      const bool needs = t && wants_grad(*t);
      if (t && (*t)->sparse && py::cast<bool>(args[i].attr("requires_grad")))
        fail<NotImplementedError>(
            "a custom Function takes no sparse tensor that requires grad\n"
            "give it x.indices() and x.values(), or x.to_dense()");
      any |= needs;
      tangents |= needs && carries_tangent(*t);
      out[i] = py::bool_(needs);
    }
    return py::make_tuple(out, any && may_record() && (grad_enabled() || tangents), tangents);
  });
  m.def("_finish_function", &finish);
  py::class_<NodeLink, std::shared_ptr<NodeLink>>(m, "_NodeLink");
  m.def("_saved_of", [](const NodeLink& link) {
    if (!link.node) fail<RuntimeError>("the graph of this ctx is gone, and with it what it saved");
    return link.node->unpack();
  });
}

}  // namespace rushlight::python
