// Edges, leaves, and the release of graphs without recursion.
#include "autograd/node.h"

#include <algorithm>
#include <numeric>

#include "autograd/anomaly.h"

namespace rushlight {

// Releasing a node may release the next: a list instead of recursion.
void destroy(Node* node) {
  static thread_local Node* list [[gnu::tls_model("initial-exec")]] = nullptr;
  static thread_local bool busy [[gnu::tls_model("initial-exec")]] = false;
  node->dying = list;
  list = node;
  if (busy) return;
  busy = true;
  while (list) {
    Node* first = list;
    list = first->dying;
    if (anomaly.remembers) [[unlikely]]
      forget_origin(*first);
    delete first;
  }
  busy = false;
}

void destroy(Body* b) {
  Ref<Node> node;  // before anything that may run Python: a leaf's node may be asked for its leaf
  if (b->node) node = take_node(*b);
  if (b->left_behind) release_python(b->left_behind);
  b->~Body();
  BlockCache::give(b, sizeof(Body));
}

void Node::add_edge(Edge e) {
  if (anomaly.enabled && inputs == 0) [[unlikely]]
    remember_origin(*this);
  if (inputs == 3 && !many_) {
    many_ = std::make_unique<Edge[]>(8);
    for (std::size_t i = 0; i < 3; ++i) many_[i] = std::move(few_[i]);
  } else if (many_ && inputs >= 8 && (inputs & (inputs - 1)) == 0) {
    auto grown = std::make_unique<Edge[]>(std::size_t(inputs) * 2);
    for (std::size_t i = 0; i < inputs; ++i) grown[i] = std::move(many_[i]);
    many_ = std::move(grown);
  }
  if (inputs == 65535) fail<RuntimeError>("an operation can record at most 65535 inputs");
  if (e.node && e.node->order >= order) [[unlikely]]  // of another thread, or made after this one
    order = last_order = std::max(last_order, e.node->order) + 1;
  next(inputs++) = std::move(e);
}

void Node::add_input(const Tensor& t) {
  Edge e;
  // A view may have no history yet, and get one here, from what was written to its base.
  if (Node* node = t && (t.requires_grad() || t->base) ? gradient_node(*t.body()) : nullptr) {
    e.node = Ref<Node>::share(node);
    e.output = t->node == node ? t->output : 0;
    e.numel = std::uint32_t(t.numel());
  }
  add_edge(std::move(e));
}

Ref<Node> take_node(Body& b) {
  if (b.node && is_leaf(b))
    if (auto* node = static_cast<AccumulateGrad*>(b.node); node->leaf == &b) node->leaf = nullptr;
  return Ref<Node>::adopt(std::exchange(b.node, nullptr));
}

AccumulateGrad* accumulator(Body& leaf) {
  if (!leaf.node) {
    auto* node = new AccumulateGrad;
    node->leaf = &leaf;
    leaf.node = node;
  }
  return static_cast<AccumulateGrad*>(leaf.node);
}

Node* gradient_node(Body& b) {
  if (b.base && b.base->requires_grad && b.node_version != b.version()) {
    // Written to through its base or a sister view: its old node is out of date.
    if (b.unrecorded != Unrecorded::none) fail_view_written(b, true);
    Ref<Node> fresh = view_node(b);
    if (b.node) move_grad(b, *fresh, 0);
    fresh->set_kind(0, kind_of(b));
    const Ref<Node> old = take_node(b);
    b.node = fresh.detach();
    b.output = 0;
    b.requires_grad = true;
    b.node_version = b.version();
  }
  if (!b.requires_grad) return nullptr;
  return b.node ? b.node : accumulator(b);
}

// ---- forward mode

static std::atomic<std::uint32_t> last_forward_level = 0;  // nodes are shared by threads

std::uint32_t set_forward_level(std::int64_t level) {
  const std::uint32_t before = forward_level;
  if (level >= 0)
    forward_level = std::uint32_t(level);
  else if (!before)
    forward_level = ++last_forward_level;
  if (grad_mode == Recording::off || grad_mode == Recording::tangents) set_grad_enabled(false);
  return before;
}

void mark_tangent(const Tensor& t) {
  if (Node* node = gradient_node(*t.body())) node->tangents = forward_level * 2 + 1;
}

// Whether a node that was marked is among those before this one. Each is looked at once in a level.
static bool leads_to_tangent(Node& from) {
  const std::uint32_t no = forward_level * 2, yes = no + 1;
  std::vector<std::pair<Node*, std::size_t>> path{{&from, 0}};
  while (!path.empty()) {
    auto& [node, at] = path.back();
    if (node->tangents == yes) {
      for (const auto& step : path) step.first->tangents = yes;
      return true;
    }
    if (node->tangents == no || at == node->inputs) {
      node->tangents = no;
      path.pop_back();
      continue;
    }
    if (Node* next = node->next(at++).node.get()) path.emplace_back(next, 0);
  }
  return false;
}

bool carries_tangent(const Tensor& t) {
  if (!t || !forward_level) return false;
  for (const Body* b :
       {static_cast<const Body*>(t.body()), static_cast<const Body*>(t->base.get())})
    if (b && b->requires_grad && b->node && leads_to_tangent(*b->node)) return true;
  return false;
}

bool carries_tangent(const std::vector<Tensor>& list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& t) { return carries_tangent(t); });
}

Node* grad_fn(Body& b) {
  Node* node = b.requires_grad || b.base ? gradient_node(b) : b.node;
  return node && node->inputs ? node : nullptr;
}

Tensor grad_of(const Tensor& t) {
  Body& b = *t.body();
  if (!b.node) return {};
  if (is_leaf(b)) return static_cast<AccumulateGrad*>(b.node)->grad;
  if (b.node->hooks)
    for (const Hooks::Retained& kept : b.node->hooks->retained)
      if (kept.output == b.output) return kept.grad;
  return {};
}

void set_grad(const Tensor& t, Tensor grad) {
  Body& b = *t.body();
  if (is_leaf(b)) {
    if (!b.node && !grad) return;
    accumulator(b)->grad = std::move(grad);
    return;
  }
  auto& retained = b.node->all_hooks().retained;
  for (Hooks::Retained& kept : retained)
    if (kept.output == b.output) {
      kept.grad = std::move(grad);
      return;
    }
  if (grad) retained.push_back({b.output, std::move(grad), false});
}

void move_grad(Body& b, Node& to, std::uint32_t output) {
  if (is_leaf(b)) {
    Tensor& grad = static_cast<AccumulateGrad*>(b.node)->grad;
    if (grad) to.all_hooks().retained.push_back({output, std::move(grad), false});
    return;
  }
  if (!b.node->hooks) return;
  auto& retained = b.node->hooks->retained;
  const auto at = std::find_if(retained.begin(), retained.end(),
                               [&](const auto& kept) { return kept.output == b.output; });
  if (at == retained.end()) return;
  Hooks::Retained kept{output, std::move(at->grad), at->adds};
  retained.erase(at);
  to.all_hooks().retained.push_back(std::move(kept));  // it may be the same list
}

// The gradient of a leaf that is dense in another order of dimensions than row-major has the leaf's
// strides, as in torch. `order` receives its dimensions, those with the greatest strides first.
static bool has_other_order(const Body& leaf, const Tensor& g, int* order) {
  const int rank = leaf.shape.rank;
  if (leaf.contiguous || !same(leaf.shape, g.sizes())) return false;
  const auto stride = [&](int d) { return leaf.strides[std::size_t(d)]; };
  std::iota(order, order + rank, 0);
  std::stable_sort(order, order + rank, [&](int a, int b) { return stride(a) > stride(b); });
  std::int64_t step = 1;
  for (int k = rank - 1; k >= 0; --k) {
    const std::int64_t size = leaf.shape[order[k]];
    if (size != 1 && stride(order[k]) != step) return false;
    step *= size;
  }
  return true;
}
static bool has_strides_of(const Tensor& g, const Body& leaf) {
  for (int d = 0; d < g.dim(); ++d)
    if (g->shape[d] > 1 && g->strides[std::size_t(d)] != leaf.strides[std::size_t(d)]) return false;
  return true;
}
static Tensor own_gradient_of(const Body& leaf, const Tensor& g, const int* order) {
  Shape sizes;
  Strides strides{};
  for (int k = 0; k < g.dim(); ++k) {
    sizes.push_back(g->shape[order[k]]);
    strides[std::size_t(k)] = g->strides[std::size_t(order[k])];
  }
  const Tensor own = own_gradient(geometry(g, sizes.view(), strides.data(), g.offset()));
  return geometry(own, g.sizes(), leaf.strides.data(), own.offset());
}

Gradients AccumulateGrad::backward(std::span<Tensor> grads) {
  Tensor& g = grads[0];
  const Ref<Body> held = leaf ? Ref<Body>::share(leaf) : Ref<Body>();  // a hook may let it go
  if (g->sparse || (grad && grad->sparse)) [[unlikely]] {
    grad = grad ? sparse_gradients.add_into(grad, g) : std::move(g);
  } else if (!grad) {
    // Keep what is not shared; what other code may still write to or see is copied.
    const bool records = g.requires_grad() && grad_enabled();
    int order[kMaxRank];
    const bool other = leaf && !records && has_other_order(*leaf, g, order);
    const bool ours = g->is_unique() && g->storage->is_unique() && !g->base &&
                      (other ? has_strides_of(g, *leaf) : g.is_contiguous()) &&
                      (!g.requires_grad() || records);
    grad = ours ? std::move(g) : other ? own_gradient_of(*leaf, g, order) : own_gradient(g);
  } else {
    const Tensor sum = grad;  // another thread may take it away meanwhile
    if (grad_enabled() || !same(sum.sizes(), g.sizes()))
      grad = add_gradients(sum, g);
    else
      add_gradients_into(sum, g);
  }
  if (hooks && !hooks->accumulated.empty()) {
    std::vector<Tensor> none;
    const auto accumulated = hooks->accumulated;  // a hook may add or remove hooks
    for (const Hooks::OfNode& h : accumulated)
      if (leaf) h.hook->call(none, nullptr);  // the leaf, which they are called with, may be gone
  }
  return {};
}

}  // namespace rushlight
