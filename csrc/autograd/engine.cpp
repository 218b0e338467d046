// The backward pass. Note: the frontier is a heap, and the node that was made last runs
// first, so all its gradients have arrived; what arrived is kept in the node itself, or, while
// another pass (an outer one, or another thread's) is using that node, in a table of this pass.
#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "autograd/anomaly.h"
#include "autograd/needed.h"
#include "autograd/running.h"
#include "autograd/saved_hooks.h"
#include "autograd/seen_gradients.h"
#include "kernels/parallel.h"

namespace rushlight {

namespace {

std::vector<Tensor> rows_at(const std::vector<Tensor>& all, std::int64_t i) {
  std::vector<Tensor> row(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k]) row[k] = row_of(all[k], i);
  return row;
}

[[gnu::tls_model("initial-exec")]] constinit thread_local BackwardPass* current_pass = nullptr;
std::atomic<std::uint64_t> last_pass = 0;

}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local const NodeSet* nodes_of_pass = nullptr;

struct BackwardPass {
  struct Slot {  // in place of the state of a node that another pass is using
    bool queued = false;
    std::vector<Tensor> incoming;
  };
  struct Queued {
    Ref<Node> node;
    std::uint64_t order;
    bool operator<(const Queued& other) const { return order < other.order; }
  };
  std::vector<Queued> frontier;
  std::unordered_map<Node*, Slot> elsewhere;
  NodeSet needed;  // empty: all
  std::vector<Node*> ends;  // of those: captured, and nothing behind them is needed
  struct Capture {
    Node* node;
    std::uint32_t output;
    std::size_t input;
  };
  std::vector<Capture> captures;
  std::vector<Tensor> results;
  std::vector<Ref<Node>> roots;
  std::unique_ptr<std::unordered_set<const Node*>> reached;  // from the roots, if wanted
  std::uint64_t number = 0;  // once it was read
  std::int64_t rows = 0;  // of each gradient, in front; 0: they are single
  std::vector<std::function<void()>> at_end;
  // Of leaves that hooks watch: how many gradients are to come. With the last one such a leaf runs
  // next, as all do in torch, and not at the end: DistributedDataParallel sends the gradient while
  // the pass goes on.
  std::unordered_map<Node*, std::uint32_t> awaited;
  std::vector<Ref<Node>> incomplete;  // of them: some gradients may never come
  static constexpr std::uint64_t kNext = ~std::uint64_t(0);
  BackwardPass* const outer = std::exchange(current_pass, this);
  const NodeSet* const nodes_of_outer = std::exchange(nodes_of_pass, nullptr);

  bool own(Node& n) {
    if (!n.pass) n.pass = this;
    return n.pass == this;
  }

  void arrive(const Ref<Node>& node, std::uint32_t output, Tensor g) {
    if (node->casts) [[unlikely]]
      g = cast_gradient(g, static_cast<AccumulateGrad&>(*node).grad_dtype);
    bool& queued = own(*node) ? node->queued : elsewhere[node.get()].queued;
    Tensor& sum = slot(*node, output);
    if (sum)
      sum = add_gradients(std::move(sum), std::move(g));
    else
      sum = std::move(g);
    if (!awaited.empty() && node->inputs == 0) [[unlikely]] {
      const auto at = awaited.find(node.get());
      if (at != awaited.end()) {
        if (--at->second == 0)
          push(node, kNext);
        else if (!queued)
          incomplete.push_back(node);
        queued = true;
        return;
      }
    }
    if (!std::exchange(queued, true)) push(node, node->order);
  }
  void push(const Ref<Node>& node, std::uint64_t order) {
    frontier.push_back({node, order});
    std::push_heap(frontier.begin(), frontier.end());
  }

  Tensor& slot(Node& n, std::uint32_t output) {
    if (n.pass != this) {
      std::vector<Tensor>& v = elsewhere[&n].incoming;
      if (v.size() < n.outputs) v.resize(n.outputs);
      return v[output];
    }
    if (n.outputs == 1) return n.incoming;
    return n.output(output).incoming;
  }

  void await_watched_leaves() {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> open;
    const auto visit = [&](const Node* n) {
      if (n && n->inputs != 0 && is_needed(*n) && seen.insert(n).second) open.push_back(n);
    };
    for (const Ref<Node>& root : roots) visit(root.get());
    while (!open.empty()) {
      const Node* n = open.back();
      open.pop_back();
      for (std::size_t i = 0; i < n->inputs; ++i) {
        Node* next = n->next(i).node.get();
        visit(next);
        const auto* leaf =
            next && next->inputs == 0 ? dynamic_cast<AccumulateGrad*>(next) : nullptr;
        if (leaf && leaf->is_watched()) ++awaited[next];
      }
    }
    for (const Ref<Node>& root : roots) awaited.erase(root.get());
  }
  // The node that runs next, or null at the end.
  Ref<Node> next() {
    if (!frontier.empty()) [[likely]] {
      std::pop_heap(frontier.begin(), frontier.end());
      Ref<Node> node = std::move(frontier.back().node);
      frontier.pop_back();
      return node;
    }
    while (!incomplete.empty()) {
      Ref<Node> node = std::move(incomplete.back());
      incomplete.pop_back();
      if (awaited[node.get()] != 0) return node;
    }
    return Ref<Node>();
  }
  bool is_needed(const Node& n) const {
    return needed.empty() || needed.contains(const_cast<Node*>(&n));
  }

  // Takes what arrived and frees the node for other passes.
  std::vector<Tensor> take(Node& n) {
    std::vector<Tensor> grads(n.outputs);
    if (n.pass != this) {
      Slot& s = elsewhere[&n];
      s.queued = false;
      grads.swap(s.incoming);
      grads.resize(n.outputs);
      return grads;
    }
    for (std::uint32_t i = 0; i < n.outputs; ++i) grads[i] = std::exchange(slot(n, i), Tensor());
    n.queued = false;
    n.pass = nullptr;
    return grads;
  }

  SeenGradients shown;

  void call_hook(Hook& hook, std::vector<Tensor>& grads, std::vector<Tensor>* outputs) {
    if (!rows) return call_hook_once(hook, grads, outputs);
    std::vector<std::vector<Tensor>> made(grads.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<Tensor> row = rows_at(grads, r), above;
      if (outputs) above = rows_at(*outputs, r);
      call_hook_once(hook, row, outputs ? &above : nullptr);
      for (std::size_t i = 0; i < grads.size(); ++i) made[i].push_back(row[i]);
    }
    for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = stacked_rows(std::move(made[i]));
  }

  void call_hook_once(Hook& hook, std::vector<Tensor>& grads, std::vector<Tensor>* outputs) {
    const bool records = grad_enabled();
    std::vector<Tensor> given(grads.size());
    std::vector<Shape> shapes(grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i]) continue;
      given[i] = shown.of(grads[i]);
      shapes[i] = grads[i].shape();
    }
    std::vector<Tensor> made = given;
    hook.call(made, outputs);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!made[i]) {
        grads[i] = Tensor();
        continue;
      }
      if (grads[i] && !(made[i].shape() == shapes[i])) {
        if (!records && made[i].is_same(given[i])) continue;  // its data was set to another shape
        fail<RuntimeError>("hook has changed the size of value: it was ", shapes[i], " and is ",
                           made[i].sizes());
      }
      if (records)
        grads[i] = made[i];
      else if (!given[i] || !made[i].is_same(given[i])) {
        grads[i] = made[i]->sparse ? made[i] : alias(made[i]);
        shown.show(grads[i], made[i]);
      }
    }
  }

  // Those of tensors: they see the gradient that autograd.grad() returns.
  void call_tensor_hooks(Node& n, std::vector<Tensor>& grads) {
    if (!n.hooks) return;
    const Ref<Node> keep = Ref<Node>::share(&n);
    const auto of_tensor = n.hooks->tensor;  // a hook may add or remove hooks
    for (const Hooks::OfOutput& h : of_tensor) {
      if (!grads[h.output]) continue;
      std::vector<Tensor> one{grads[h.output]};
      call_hook(*h.hook, one, nullptr);
      grads[h.output] = std::move(one[0]);
    }
    for (auto& [output, kept, adds] : n.hooks->retained)
      if (adds && !rows && output < grads.size() && grads[output])
        kept = kept ? add_gradients(kept, grads[output]) : own_gradient(grads[output]);
  }

  // Those of a node that runs, before it and after it.
  void call_hooks_before(Node& n, std::vector<Tensor>& grads) {
    if (!n.hooks) return;
    const Ref<Node> keep = Ref<Node>::share(&n);
    const auto before = n.hooks->before;
    for (const Hooks::OfNode& h : before) call_hook(*h.hook, grads, nullptr);
  }
  void call_hooks_after(Node& n, std::vector<Tensor>& inputs, std::vector<Tensor> outputs) {
    for (Tensor& g : outputs)
      if (g) g = shown.of(g);
    const auto after = n.hooks->after;
    for (const Hooks::OfNode& h : after) call_hook(*h.hook, inputs, &outputs);
  }

  Gradients run_node(Node& node, std::span<Tensor> grads, bool keep) const {
    const RunningNode running(node);
    if (node.inputs)  // a leaf keeps it sparse
      for (Tensor& g : grads)
        if (g && g->sparse) [[unlikely]]
          g = sparse_gradients.dense(g);
    Gradients out = rows ? node.backward_rows(grads, rows) : node.backward(grads);
    if (anomaly.enabled && anomaly.check_nan) [[unlikely]]
      refuse_nan(node, out);
    node.release_waits |= !keep;
    return out;
  }

  // The next kernel would read or write beyond a gradient of another size.
  void check_size(const Node& node, std::size_t input, const Edge& e, const Tensor& g) const {
    if (e.numel && std::uint32_t(g.numel()) != e.numel && !rows) [[unlikely]]
      fail<RuntimeError>("Function ", node.title(), " returned an invalid gradient at index ",
                         input, " - got ", g.sizes(), " but expected a shape of the input's ",
                         e.numel, " elements");
  }

  // Nearly every node: one gradient in, no hooks.
  void quick_step(Node& node, bool keep) {
    Tensor g = std::move(node.incoming);
    node.queued = false;
    node.pass = nullptr;
    Gradients out = run_node(node, {&g, 1}, keep);
    for (std::size_t i = 0; i < node.inputs; ++i) {
      const Edge& e = node.next(i);
      if (!e.node || !out[i]) continue;
      check_size(node, i, e, out[i]);
      arrive(e.node, e.output, std::move(out[i]));
    }
  }

  void step(Node& node, bool accumulate, bool keep) {
    if (node.outputs == 1 && !node.hooks && node.pass == this && captures.empty() &&
        !anomaly.enabled)
      return quick_step(node, keep);
    full_step(node, accumulate, keep);
  }

  [[gnu::noinline]] void full_step(Node& node, bool accumulate, bool keep) {
    std::vector<Tensor> grads = take(node);
    call_tensor_hooks(node, grads);
    bool captured = false;
    for (const Capture& c : captures)
      if (c.node == &node) {
        results[c.input] =
            shown.empty() || !grads[c.output] ? grads[c.output] : shown.of(grads[c.output]);
        captured = true;
      }
    if (!needed.empty() &&
        (!needed.contains(&node) ||
         (!accumulate && std::find(ends.begin(), ends.end(), &node) != ends.end())))
      return;
    if (node.inputs == 0 && captured && !accumulate) return;
    call_hooks_before(node, grads);
    const bool watched = node.hooks && !node.hooks->after.empty();
    const std::vector<Tensor> before = watched ? grads : std::vector<Tensor>();
    if (node.inputs == 0) {
      if (!grads[0]) return;
      if (!shown.empty()) shown.forget(grads[0]);
      node.backward(grads);
      std::vector<Tensor> none;
      if (watched) call_hooks_after(node, none, before);
      return;
    }
    bool any = false;
    for (const Tensor& g : grads) any |= bool(g);
    if (!any) return;
    Gradients out = run_node(node, grads, keep);
    if (watched) {
      std::vector<Tensor> inputs(node.inputs);
      for (std::size_t i = 0; i < node.inputs; ++i) inputs[i] = out[i];
      call_hooks_after(node, inputs, before);
      out = Gradients(std::move(inputs));
    }
    for (std::size_t i = 0; i < node.inputs; ++i) {
      const Edge& e = node.next(i);
      if (!e.node || !out[i] || !(needed.empty() || needed.contains(e.node.get()))) continue;
      check_size(node, i, e, out[i]);
      arrive(e.node, e.output, std::move(out[i]));
    }
  }

  [[gnu::noinline]] void watched_step(Node& node, bool accumulate, bool keep) {
    struct Profiled {
      const StepWatch watch = step_watch;
      void* span;
      explicit Profiled(const Node& n) : span(watch.begin ? watch.begin(n) : nullptr) {}
      ~Profiled() {
        if (span) watch.end(span);
      }
    } const profiled(node);
    if (!anomaly.enabled) return step(node, accumulate, keep);
    const WatchedStep watch(node);
    try {
      step(node, accumulate, keep);
    } catch (...) {
      watch.warn();
      throw;
    }
  }

  bool reaches(const Node& node) {
    if (!needed.empty()) return needed.contains(const_cast<Node*>(&node));
    if (!reached) {
      reached = std::make_unique<std::unordered_set<const Node*>>();
      std::vector<const Node*> open;
      const auto visit = [&](const Node* n) {
        if (n && reached->insert(n).second) open.push_back(n);
      };
      for (const Ref<Node>& root : roots) visit(root.get());
      while (!open.empty()) {
        const Node* n = open.back();
        open.pop_back();
        for (std::size_t i = 0; i < n->inputs; ++i) visit(n->next(i).node.get());
      }
    }
    return reached->contains(&node);
  }

  ~BackwardPass() {  // after an exception the graph must be usable again
    current_pass = outer;
    nodes_of_pass = nodes_of_outer;
    for (Queued& q : frontier) incomplete.push_back(std::move(q.node));
    for (const Ref<Node>& n : incomplete) {
      if (n->pass != this) continue;
      n->queued = false;
      n->incoming = Tensor();
      if (n->many_outputs)
        for (std::size_t i = 0; i < n->outputs; ++i) n->many_outputs[i].incoming = Tensor();
      n->pass = nullptr;
    }
  }
};

std::vector<Tensor> run_backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                                 const std::vector<Tensor>& inputs, BackwardOptions options) {
  BackwardPass pass;
  pass.rows = options.rows;
  pass.roots.reserve(roots.size());
  pass.frontier.reserve(8);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i].device().is_cuda()) check_alive(roots[i]);
    Node* node = gradient_node(*roots[i].body());
    if (!node)
      fail<RuntimeError>("element ", i,
                         " of tensors does not require grad and does not have a grad_fn\n",
                         describe("it is", roots[i]),
                         "; no operation on it was recorded: set requires_grad=True on what it was "
                         "made from, and do not make it under no_grad()");
    pass.roots.push_back(Ref<Node>::share(node));
  }
  NodeSet targets;
  pass.results.resize(inputs.size());
  std::vector<Ref<Node>> keep;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Node* node = gradient_node(*inputs[i].body());
    if (!node)
      fail<RuntimeError>("One of the differentiated Tensors does not require grad\n",
                         describe(text("inputs[", i, "]").c_str(), inputs[i]),
                         "; call requires_grad_() on it before it is used");
    keep.push_back(Ref<Node>::share(node));
    pass.captures.push_back({node, inputs[i]->node == node ? inputs[i]->output : 0u, i});
    targets.insert(node);
  }
  if (!inputs.empty()) {
    mark_needed(pass.roots, targets, pass.needed, pass.ends);
    nodes_of_pass = &pass.needed;
  }
  const GradMode mode(options.create_graph);
  const bool keep_graph = options.retain_graph || options.create_graph;
  if (watched_leaves != 0) [[unlikely]]
    pass.await_watched_leaves();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!inputs.empty() && !pass.needed.contains(pass.roots[i].get())) continue;
    // Of a gradient that the program has, a body of our own: what it makes of the other meanwhile
    // concerns this pass no more.
    const Tensor first = grads[i]->python ? pass.shown.returned(grads[i]) : grads[i];
    pass.arrive(pass.roots[i], roots[i]->node == pass.roots[i].get() ? roots[i]->output : 0, first);
  }
  unsigned steps = 0;
  ShownScope shown;
  while (const Ref<Node> node = pass.next()) {
    if (steps_watched) [[unlikely]]
      pass.watched_step(*node, options.accumulate, keep_graph);
    else
      pass.step(*node, options.accumulate, keep_graph);
    shown.end_step();
    if (!pass.shown.empty()) pass.shown.forget_unused();
    if ((++steps & 1023) == 0 && poll_interrupt) poll_interrupt();
  }
  for (std::size_t i = 0; i < pass.at_end.size(); ++i)  // one may add another
    std::exchange(pass.at_end[i], nullptr)();
  return std::move(pass.results);
}

void after_backward(std::function<void()> function) {
  BackwardPass* outermost = current_pass;
  if (!outermost) fail<RuntimeError>("Final callbacks can only be installed during backward pass.");
  while (outermost->outer) outermost = outermost->outer;
  outermost->at_end.push_back(std::move(function));
}

std::uint64_t current_backward() {
  if (!current_pass) return 0;
  if (!current_pass->number) current_pass->number = ++last_pass;
  return current_pass->number;
}
Tensor seen_gradient(const Tensor& gradient) {
  return current_pass && gradient ? current_pass->shown.of(gradient) : gradient;
}
Tensor returned_gradient(const Tensor& seen) {
  return current_pass ? current_pass->shown.returned(seen) : seen;
}
bool backward_is_whole() { return !current_pass || current_pass->needed.empty(); }
bool backward_reaches(const Node& node) { return current_pass && current_pass->reaches(node); }

}  // namespace rushlight
