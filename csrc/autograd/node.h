// Node: one step of a recorded graph, and the nodes that receive its gradients. Note:
// nodes are ordered as they were made, as torch's are: by a counter of the thread, which is beyond
// those of all inputs, so that graphs built by several threads still sort correctly. Neither
// backward nor the release of a graph recurses.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace rushlight {

// Gradients in the order of a node's inputs; an undefined tensor means none.
class Gradients {
 public:
  Gradients() = default;
  template <class... T>
    requires(sizeof...(T) > 0 && sizeof...(T) <= 4 && (std::is_convertible_v<T &&, Tensor> && ...))
  Gradients(T&&... t) : few_{Tensor(std::forward<T>(t))...} {}
  Gradients(std::vector<Tensor> many) : many_(std::move(many)), is_many_(true) {}
  Tensor& operator[](std::size_t i) {
    if (is_many_) return i < many_.size() ? many_[i] : few_[0];
    return few_[i < 4 ? i : 0];
  }

 private:
  std::array<Tensor, 4> few_;
  std::vector<Tensor> many_;
  bool is_many_ = false;
};

struct Edge {
  Ref<Node> node;
  std::uint32_t output = 0;
  std::uint32_t numel = 0;  // low bits of the input's: its gradient has as many. 0: unknown
};

// A call of the user's between nodes: on the gradient of one output before a node runs, or on all
// gradients before or after it. Held by nodes; the bindings derive from it.
struct Hook : Shared {
  virtual ~Hook() = default;
  // Changes `grads` in place. `outputs` is only given to hooks that run after a node.
  virtual void call(std::vector<Tensor>& grads, std::vector<Tensor>* outputs) = 0;
};
inline void destroy(Hook* h) { delete h; }

// What the bindings keep with a node for the user.
struct Attachment : Shared {
  virtual ~Attachment() = default;
};
inline void destroy(Attachment* a) { delete a; }

// Those of a node: apart from it, so that what removes a hook need not keep the node.
struct Hooks : Shared {
  struct OfOutput {
    std::uint32_t output;
    std::uint64_t id;
    Ref<Hook> hook;
  };
  struct OfNode {
    std::uint64_t id;
    Ref<Hook> hook;
  };
  std::vector<OfOutput> tensor;                     // Tensor.register_hook
  std::vector<OfNode> before, after;                // Node.register_prehook, register_hook
  std::vector<OfNode> accumulated;                  // of a leaf, when its .grad was added to
  struct Retained {
    std::uint32_t output;
    Tensor grad;
    bool adds;  // retain_grad() was called: a pass adds to it
  };
  std::vector<Retained> retained;  // .grad of results
  Ref<Attachment> metadata;

  void clear() {
    tensor.clear();
    before.clear();
    after.clear();
    accumulated.clear();
    retained.clear();
    metadata = {};
  }
};
inline void destroy(Hooks* h) { delete h; }

// A number for a tensor's shape, dtype and device: its gradient has the same.
inline std::uint32_t kind_of(const Body& b) {
  constexpr std::uint64_t odd[kMaxRank] = {
      0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7, 0xAEF17502108EF2D9,
      0xDB4F0B9175AE2165, 0xBBE0563303A4615F, 0xA0F2EC75A1FE1575, 0xC6BC279692B5C323};
  std::uint64_t sum = std::uint64_t(b.dtype) << 8 | std::uint64_t(b.device.type) << 16 |
                      std::uint64_t(std::uint8_t(b.device.index)) << 24 |
                      std::uint64_t(b.shape.rank);
  for (std::size_t d = 0; d < std::size_t(b.shape.rank); ++d)
    sum += std::uint64_t(b.shape.sizes[d]) * odd[d];
  return std::uint32_t((sum * odd[0]) >> 32);
}

struct BackwardPass;
class Saved;

// A tensor that is kept in another form: what a pack hook gave for it (the bindings derive from
// this), or how a node computes its result again.
struct PackedValue : Shared {
  virtual ~PackedValue() = default;
  virtual Tensor unpack() = 0;
};
inline void destroy(PackedValue* v) { delete v; }

// One thing that a node keeps for its gradient: what Python has as grad_fn._saved_NAME. An
// undefined tensor is None.
using SavedValue =
    std::variant<Tensor, Scalar, std::string, std::vector<std::int64_t>, std::vector<Tensor>>;

// The nodes that this thread's backward pass runs; null: all of them, or there is no pass.
struct Node;
using NodeSet = std::unordered_set<Node*>;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const NodeSet* nodes_of_pass;

[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint64_t last_order = 0;

struct Node : Shared {
  const char* name;
  std::uint64_t order = ++last_order;  // beyond those of the inputs; of an AccumulateGrad 0
  std::uint16_t inputs = 0;   // number of edges
  std::uint16_t outputs = 1;  // of the forward: gradients that come in
  bool released = false;      // what it had saved is gone
  bool release_waits = false;  // until it is not running
  bool is_second_half = false;  // with the node of its name before it, one step to users
  std::uint16_t running = 0;   // calls of backward(): hooks of saved tensors may start passes
  std::uint32_t kind = 0, alike = 0;  // kind_of() its first outputs, and how many those are
  Edge few_[3];
  std::unique_ptr<Edge[]> many_;
  // State of the backward pass that is using this node; one at a time, see engine.cpp.
  BackwardPass* pass = nullptr;
  bool queued = false;
  bool casts = false;  // an AccumulateGrad with a grad_dtype
  std::uint32_t tangents = 0;  // carries_tangent() of its outputs, if known, in which level
  Tensor incoming;
  struct Output {
    Tensor incoming;
    std::uint32_t kind = 0;  // if it is not among the first alike
  };
  std::unique_ptr<Output[]> many_outputs;  // where outputs > 1, if needed
  Ref<Hooks> hooks;
  // Of a node that keeps its input and has a large result: computes that again (Saved::recomputed).
  Ref<PackedValue> recompute;
  Node* dying = nullptr;  // link of the release list

  explicit Node(const char* n) : name(n) {}
  virtual ~Node() {
    if (hooks) hooks->clear();
  }
  // `grads` has one tensor per output, undefined where nothing arrived; at least one is defined.
  virtual Gradients backward(std::span<Tensor> grads) = 0;
  // The same for `rows` gradients at once, which have a dimension of that size in front; what comes
  // out has it too. Without a formula of its own, a node takes one after another (rows.cpp).
  virtual Gradients backward_rows(std::span<Tensor> grads, std::int64_t rows);
  virtual void release_saved() {}
  virtual const char* title() const { return name; }
  // What it keeps, under torch's names; a node that names nothing keeps it to itself. saved_value()
  // throws where it was released or written to; saved_slot() is null for what is no tensor.
  virtual std::vector<std::string> saved_names() const { return {}; }
  virtual SavedValue saved_value(std::size_t) { return {}; }
  virtual Saved* saved_slot(std::size_t) { return nullptr; }

  Edge& next(std::size_t i) { return many_ || i >= 3 ? many_[i] : few_[i]; }
  const Edge& next(std::size_t i) const { return many_ || i >= 3 ? many_[i] : few_[i]; }
  // Of the two nodes that are one step to users, the one that runs last; else null.
  Node* first_half() const {
    Node* first = is_second_half ? next(0).node.get() : nullptr;
    return first && std::string_view(first->title()) == title() ? first : nullptr;
  }
  bool has_input(std::size_t i) const { return i < inputs && bool(next(i).node); }
  // Whether the pass that runs this node wants its gradient: autograd.grad(y, x) leaves out others.
  bool needs_input(std::size_t i) const {
    if (!has_input(i)) return false;
    if (nodes_of_pass) [[unlikely]]
      return nodes_of_pass->contains(next(i).node.get());
    return true;
  }
  void reserve(std::size_t n) {
    if (n > 3) many_ = std::make_unique<Edge[]>(n);
  }
  void add_input(const Tensor& t);  // the next edge; empty where t needs no gradient
  void add_edge(Edge e);
  Hooks& all_hooks() {
    if (!hooks) hooks = Ref<Hooks>::adopt(new Hooks);
    return *hooks;
  }
  void set_kind(std::uint32_t i, std::uint32_t of) {
    if (i == 0) kind = of;
    if (i == alike && of == kind)
      ++alike;
    else if (i >= alike || of != kind)
      output(i).kind = of;
  }
  Output& output(std::size_t i) {
    if (!many_outputs) many_outputs = std::make_unique<Output[]>(outputs);
    return many_outputs[i];
  }
  static void* operator new(std::size_t n) { return BlockCache::take(n); }
  static void operator delete(void* p, std::size_t n) { BlockCache::give(p, n); }
};

// While a node runs another one, whose edges may lead past the pass: that one computes all.
class AllInputs {
 public:
  AllInputs() : nodes_(std::exchange(nodes_of_pass, nullptr)) {}
  ~AllInputs() { nodes_of_pass = nodes_; }
  AllInputs(const AllInputs&) = delete;

 private:
  const NodeSet* nodes_;
};

// The leaf's node. It owns .grad and never the leaf, so leaf -> node is no cycle.
struct AccumulateGrad final : Node {
  Tensor grad;
  Body* leaf = nullptr;  // borrowed; cleared when the leaf dies
  bool any_dtype = false;  // grad_dtype = None
  DType grad_dtype = DType::float32;  // where `casts`: what gradients are cast to as they arrive
  AccumulateGrad() : Node("AccumulateGrad") { order = 0; }
  Gradients backward(std::span<Tensor> grads) override;
  bool is_watched() const {
    return hooks && !(hooks->tensor.empty() && hooks->before.empty() && hooks->after.empty() &&
                      hooks->accumulated.empty());
  }
};

inline bool is_leaf(const Body& b) { return !b.node || b.node->inputs == 0; }
AccumulateGrad* accumulator(Body& leaf);  // made on first use
// Of a body that goes or gets another node: others may still hold the leaf's, which then has no
// leaf any more. Null if there is none.
Ref<Node> take_node(Body& b);
// The node that gradients of `b` go to: its grad_fn (made anew where a view's base was written to
// since), or the accumulator of a leaf that requires grad; null otherwise.
Node* gradient_node(Body& b);
// grad_fn as users see it: null for leaves.
Node* grad_fn(Body& b);
Tensor grad_of(const Tensor& t);
// Before a tensor gets another node, of whose outputs it is this: its .grad stays.
void move_grad(Body& b, Node& to, std::uint32_t output);
void set_grad(const Tensor& t, Tensor grad);

// Modes of this thread. Every op reads them, so they are inline: constinit spares the
// call that would otherwise make sure of their initialisation. `off` is the user's choice, and
// `off_inside` the library's: for a composition whose history is recorded as a whole. `tangents` is
// the user's `off` where forward mode is on: only what has a tangent is recorded, which it is found
// by.
enum class Recording : std::uint8_t { on, tangents, off, off_inside };
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Recording grad_mode =
    Recording::on;
inline bool grad_enabled() { return grad_mode == Recording::on; }
inline bool may_record() { return grad_mode <= Recording::tangents; }
inline bool inference_enabled() { return inference_mode; }
// The number of the level of forward mode that is open in this thread; 0: none.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint32_t forward_level = 0;
inline void set_grad_enabled(bool enabled) {
  grad_mode = enabled                            ? Recording::on
              : forward_level && !inference_mode ? Recording::tangents
                                                 : Recording::off;
}
// Opens a level, if none is open, with -1; returns the one before.
std::uint32_t set_forward_level(std::int64_t level);
void mark_tangent(const Tensor& t);  // it has one in the open level
bool carries_tangent(const Tensor& t);  // or it was made from what has one
bool carries_tangent(const std::vector<Tensor>& list);
inline void set_inference_enabled(bool enabled) { inference_mode = enabled; }

class GradMode {  // for a scope of the library's own code
 public:
  explicit GradMode(bool enabled) : was_(grad_mode) {
    grad_mode = enabled ? Recording::on : Recording::off_inside;
  }
  ~GradMode() { grad_mode = was_; }
  GradMode(const GradMode&) = delete;

 private:
  Recording was_;
};

// Gradients of `roots` flow to all leaves, or, where `inputs` are given, are returned for these and
// go nowhere else. Runs in the calling thread.
// With `rows`, each gradient has so many in front, and what is returned has them too.
struct BackwardOptions {
  bool retain_graph = false, create_graph = false, accumulate = true, allow_unused = false;
  std::int64_t rows = 0;  // 0: they are single
};
std::vector<Tensor> run_backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                                 const std::vector<Tensor>& inputs, BackwardOptions options);

// What a node gives for gradients of its outputs, called by itself, without hooks: one for each
// input, undefined where there is none. What it saved stays.
std::vector<Tensor> call_node(Node& node, std::vector<Tensor> grads);
// kind_of() the gradient of an output; 0: nothing can tell.
std::uint32_t kind_of_output(const Node& node, std::uint32_t output);

// Inside a backward pass of this thread: its number, and whether it will run, or ran, a node. Else
// 0 and false.
std::uint64_t current_backward();
bool backward_reaches(const Node& node);
// Whether it computes the gradients of all leaves, so that a pass within it may add to theirs.
bool backward_is_whole();

// Calls a function at the end of the outermost backward pass of this thread that is under way,
// after all gradients have been added up; not at all if that pass fails.
void after_backward(std::function<void()> function);

// How many hooks the leaves have: without any, they are not looked for.
inline std::atomic<std::int64_t> watched_leaves = 0;

// What the engine needs of the ops, defined in csrc/ops/gradients.cpp.
Tensor cast_gradient(const Tensor& g, DType dtype);
Tensor add_gradients(Tensor a, Tensor b);  // in the memory of one of them, if that is free
void add_gradients_into(const Tensor& sum, const Tensor& g);
Tensor own_gradient(const Tensor& g);  // a dense copy, recorded in grad mode
Tensor like_saved(const Tensor& t, DType dtype, bool dense);  // of that dtype, row-major if dense
Tensor row_of(const Tensor& rows, std::int64_t i);
// Sparse gradients are computed with in Python: set by the bindings. add_into() writes the sum to a
// where that is dense.
struct SparseGradients {
  Tensor (*add)(const Tensor& a, const Tensor& b) = nullptr;
  Tensor (*add_into)(const Tensor& a, const Tensor& b) = nullptr;
  Tensor (*dense)(const Tensor& g) = nullptr;
};
inline SparseGradients sparse_gradients;
Tensor stacked_rows(std::vector<Tensor> rows);  // undefined ones as zeros, if one is not
Ref<Node> view_node(Body& view);  // the node of a view whose base was written to
// Refuses a write that cannot be recorded: to the view, or to what it is a view of.
[[noreturn]] void fail_view_written(const Body& view, bool through_base);

}  // namespace rushlight
