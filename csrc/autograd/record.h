// record(): gives a result its history, from a lambda written beside the forward. Saved keeps an
// input, SavedOutput the result itself, for that lambda; both notice later writes, and go through
// the user's hooks where there are some (saved_hooks.h).
#pragma once
#include <optional>

#include "autograd/saved_hooks.h"

namespace rushlight {

// The result of a composition, whose last node shows the name of torch's one node for all of it.
inline const Tensor& named(const Tensor& out, const char* node) {
  if (out.requires_grad() && out->node && out->node->inputs) out->node->name = node;
  return out;
}

// A tensor kept for backward. get() throws torch's words if it was written to since.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& t, const Tensor* result = nullptr)
      : tensor_(t), version_(t ? t->version() : 0) {
    if (t && (t->inference || saved_hooks)) [[unlikely]]
      note_saved(tensor_, version_, result);
  }
  const Tensor& get(const Node* maker = nullptr) const {
    if (tensor_ && tensor_->version() != version_) [[unlikely]] {
      if (!is_placeholder(tensor_)) fail_modified(tensor_, version_, maker);
      return show(tensor_, maker);
    }
    return tensor_;
  }
  // get() for one use in a step: what is computed again is not kept until the step ends.
  Tensor once(const Node* maker = nullptr) const {
    if (tensor_ && tensor_->version() != version_ && is_placeholder(tensor_) &&
        is_recomputed(tensor_)) [[unlikely]]
      return unpacked(tensor_, maker);
    return get(maker);
  }
  explicit operator bool() const { return bool(tensor_); }
  // For an operation that takes much longer than what made t: of a large t that its node computes
  // again from what that one keeps, only how. Not where the user's hooks are to see t.
  static Saved recomputed(const Tensor& t);
  // Gives it hooks of its own, and calls the pack hook; RuntimeError where it has some.
  void hook(SavedHooks& hooks);

  // `maker`: the node whose output t is, where t itself has no history.
  [[noreturn]] static void fail_modified(const Tensor& t, std::uint32_t version,
                                         const Node* maker = nullptr);

 private:
  Tensor tensor_;
  std::uint32_t version_ = 0;
};

// A result kept by its own node: without history, or the node would keep itself alive. In grad mode
// get(self) gives it its history back for the moment.
class SavedOutput {
 public:
  SavedOutput() = default;
  explicit SavedOutput(const Tensor& out, std::uint16_t output = 0)
      : saved_(alias(out), &out), output_(output) {}
  Tensor get(Node& self) const {
    const Tensor& kept = saved_.get(&self);
    if (!grad_enabled()) return kept;
    Tensor out = alias(kept);
    self.retain();
    out->node = &self;
    out->output = output_;
    out->requires_grad = true;
    return out;
  }
  Saved& slot() { return saved_; }

 private:
  Saved saved_;
  std::uint16_t output_ = 0;
};

[[noreturn]] void fail_second_backward();

// Several gradients of one result, stacked in front: what the second of both() takes.
struct Rows {
  Tensor g;
};
template <class One, class Many>
struct Both : One, Many {
  using One::operator();
  using Many::operator();
};
// A lambda of (Tensor g, ...) with another of (Rows rows, ...), for jacrev() and its like, where
// one call for all rows is faster than one for each.
template <class One, class Many>
Both<std::decay_t<One>, std::decay_t<Many>> both(One&& one, Many&& many) {
  return {std::forward<One>(one), std::forward<Many>(many)};
}

template <class F>
struct Closure : Node {
  std::optional<F> f;
  Closure(const char* n, F&& fn) : Node(n), f(std::move(fn)) {}
  Closure(const char* n, const F& fn) : Node(n), f(fn) {}
  Gradients backward(std::span<Tensor> grads) override {
    if (!f) fail_second_backward();
    if constexpr (std::is_invocable_v<F&, std::span<Tensor>, Node&>)
      return (*f)(grads, *this);
    else if constexpr (std::is_invocable_v<F&, Tensor, Node&>)
      return (*f)(std::move(grads[0]), *this);
    else
      return (*f)(std::move(grads[0]));
  }
  Gradients backward_rows(std::span<Tensor> grads, std::int64_t rows) override {
    if constexpr (std::is_invocable_v<F&, Rows, Node&>) {
      if (!f) fail_second_backward();
      return (*f)(Rows{std::move(grads[0])}, *this);
    } else {
      return Node::backward_rows(grads, rows);
    }
  }
  void release_saved() override {
    // As in torch: what saved nothing can run again.
    if constexpr (!std::is_trivially_destructible_v<F>) {
      f.reset();
      released = true;
    }
  }
};

// The node of a lambda; one that shows what it keeps has its own (showing.h).
template <class F>
struct NodeOf {
  using type = Closure<F>;
};

inline bool wants_grad(const Tensor& t) {
  return t && (t->requires_grad || (t->base && t->base->requires_grad));
}
inline bool wants_grad(const std::vector<Tensor>& list) {
  for (const Tensor& t : list)
    if (wants_grad(t)) return true;
  return false;
}

template <class... T>
bool needs_grad(const T&... inputs) {
  return may_record() && (wants_grad(inputs) || ...) &&
         (grad_enabled() || (carries_tangent(inputs) || ...));
}

inline void connect(Node& node, const Tensor& t) { node.add_input(t); }
inline void connect(Node& node, const std::vector<Tensor>& list) {
  for (const Tensor& t : list) node.add_input(t);
}

inline void attach(const Tensor& out, Node* node, std::uint16_t output = 0) {
  if (out->node) {
    move_grad(*out.body(), *node, output);
    take_node(*out.body());  // and let it go
  }
  node->retain();
  out->node = node;
  node->set_kind(output, kind_of(*out.body()));
  out->output = output;
  out->requires_grad = true;
  out->node_version = out->version();
}

// Gives `out` its history, if an input needs one. The lambda takes (Tensor grad) or
// (Tensor grad, Node& self) and returns Gradients in the order of `inputs`, where a list of tensors
// counts as its members.
template <class F, class... T>
Tensor record(const char* name, Tensor out, F&& f, const T&... inputs) {
  if (!needs_grad(inputs...) || !is_differentiable(out.dtype())) {
    forget_saved();
    return out;
  }
  check_saved();
  auto node =
      Ref<Node>::adopt(new typename NodeOf<std::decay_t<F>>::type(name, std::forward<F>(f)));
  (connect(*node, inputs), ...);
  attach(out, node.get());
  pack_saved();
  return out;
}

// Several outputs. The lambda takes (std::span<Tensor> grads, Node& self); a gradient is undefined
// where nothing arrived. Outputs that are not floating stay without history.
template <class F, class... T>
void record_many(const char* name, std::span<Tensor> outs, F&& f, const T&... inputs) {
  if (!needs_grad(inputs...)) {
    forget_saved();
    return;
  }
  check_saved();
  auto node =
      Ref<Node>::adopt(new typename NodeOf<std::decay_t<F>>::type(name, std::forward<F>(f)));
  (connect(*node, inputs), ...);
  if (outs.size() > 65535) fail<RuntimeError>("an operation can record at most 65535 outputs");
  node->outputs = std::uint16_t(outs.size());
  for (std::size_t i = 0; i < outs.size(); ++i)
    if (outs[i] && is_differentiable(outs[i].dtype()))
      attach(outs[i], node.get(), std::uint16_t(i));
  pack_saved();
}

}  // namespace rushlight
