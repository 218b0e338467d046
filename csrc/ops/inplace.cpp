// History of in-place writes. Note: a write through a view also rewrites the history
// of its base (the node WriteThroughView), and every other view of that base makes its node anew
// when it is next read (gradient_node).
#include "ops/ops.h"
#include "ops/pointwise/pointwise.h"
#include "ops/view.h"

namespace rushlight {

void check_inplace(const Tensor& self, bool records, const char* op) {
  if (self->inference && !inference_enabled()) [[unlikely]]
    fail<RuntimeError>(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
        "clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details.");
  if (!records) return;
  if (self->unrecorded != Unrecorded::none) fail_view_written(*self.body(), false);
  if (self.requires_grad() && is_leaf(*self.body()) && !(self->base && self->base->requires_grad))
    fail<RuntimeError>(
        self->base ? "a view of " : "",
        "a leaf Variable that requires grad is being used in an in-place operation.\n", op,
        "(): ", describe("self", self),
        "\nwrite under `with torch.no_grad():`, or work on a clone()");
  if (self->base && self->base->requires_grad && is_leaf(*Tensor(self->base).body()))
    fail<RuntimeError>(
        "a view of a leaf Variable that requires grad is being used in an in-place operation.\n",
        op, "(): ", describe("self", self), " is a view of ",
        describe("the leaf", Tensor(self->base)),
        "\nwrite under `with torch.no_grad():`, or work on a clone()");
}

bool overlaps_itself(const Tensor& self) {
  if (self.is_contiguous()) return false;
  for (int d = 0; d < self.dim(); ++d)
    if (self->shape[d] > 1 && self->strides[std::size_t(d)] == 0) return true;
  return false;
}

void check_no_internal_overlap(const Tensor& self, const char* op) {
  if (overlaps_itself(self))
    fail<RuntimeError>(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.\n",
        op, "(): self has shape ", self.sizes(), " and strides ", self.strides());
}

void warn_of_internal_overlap(const Tensor& self, const char* op) {
  // A few elements written so often would take forever.
  constexpr std::int64_t kMost = std::int64_t(1) << 28;
  if (self.numel() > kMost) check_no_internal_overlap(self, op);
  if (overlaps_itself(self) && warn)
    warn(
        text("Use of ", op,
             " on expanded tensors is deprecated. Please clone() the tensor before performing this "
             "operation. This also applies to advanced indexing e.g. tensor[indices] = tensor"));
}

void take_geometry(const Tensor& self, const Tensor& view) {
  if (view.is_same(self)) return;
  check_inplace(self, needs_grad(self), "take_geometry");
  Body& b = *self.body();
  b.shape = view->shape;
  b.strides = view->strides;
  b.offset = view->offset;
  b.numel = view->numel;
  b.contiguous = view->contiguous;
  if (view->node && view->requires_grad) attach(self, view->node, view->output);
  finish_inplace(self);
  if (b.base) b.node_version = b.version();
}

void finish_inplace(const Tensor& self) { ++self->version(); }

namespace {

// Runs the written op's own node on the part of the gradient that the view shows, and puts what
// is returned instead.
struct WriteThroughView final : Node {
  Ref<Node> written;
  Shape shape;
  Shape strides;
  std::int64_t offset;  // of the view, relative to the base's
  bool of_real = false, of_complex = false;  // the base, if the view is of the other kind
  WriteThroughView() : Node("CopySlices") {}
  Tensor seen_in(const Tensor& base, std::int64_t from) const {
    const Tensor whole = of_complex ? view_as_real(base) : base;
    const Tensor part = as_strided(whole, shape, strides, from * (of_complex ? 2 : 1) + offset);
    return of_real ? view_as_complex(part) : part;
  }
  Gradients backward(std::span<Tensor> grads) override {
    const Tensor dense = contiguous(grads[0]);
    Tensor part = seen_in(dense, dense.offset());
    Gradients inner = [&] {
      const AllInputs all;
      return written->backward({&part, 1});
    }();
    const std::size_t n = inputs;
    std::vector<Tensor> out(n);
    Tensor base_grad = clone(dense);
    const Tensor place = seen_in(base_grad, 0);
    if (inner[0])
      copy_(place, inner[0]);
    else
      zero_(place);
    out[0] = base_grad;
    for (std::size_t i = 1; i < n; ++i) out[i] = inner[i];
    return Gradients(std::move(out));
  }
  // The written op's node may be in the graph too, of a second derivative: what it saved is let go
  // after both have run.
  void keep(Ref<Node> node) {
    written = std::move(node);
    ++written->running;
  }
  void release_saved() override {
    if (std::exchange(released, true)) return;
    const bool last = --written->running == 0;
    if (last && (written->release_waits || written->is_unique())) {
      written->release_waits = false;
      written->release_saved();
    }
  }
};

// Strides of the view as if the base were dense: gradients are.
bool rebased_strides(const ViewGeometry& base, const ViewGeometry& view, Shape& strides,
                     std::int64_t& offset) {
  Strides dense{};
  contiguous_strides(base.size, dense);
  std::int64_t rest = view.offset - base.offset, at = 0;
  strides.rank = view.size.rank;
  // Each base dimension, from the largest stride on, takes its share of an offset.
  int order[kMaxRank];
  for (int d = 0; d < base.size.rank; ++d) order[d] = d;
  std::stable_sort(order, order + base.size.rank, [&](int a, int b) {
    return base.strides[std::size_t(a)] > base.strides[std::size_t(b)];
  });
  auto translate = [&](std::int64_t step, std::int64_t& out) {
    out = 0;
    for (int k = 0; k < base.size.rank; ++k) {
      const auto d = std::size_t(order[k]);
      if (base.size.sizes[d] <= 1 || base.strides[d] == 0) continue;
      const std::int64_t times = step / base.strides[d];
      out += times * dense[d];
      step -= times * base.strides[d];
    }
    return step == 0;
  };
  if (!translate(rest, at)) return false;
  offset = at;
  for (int d = 0; d < view.size.rank; ++d) {
    strides[d] = 1;  // of a dimension of one element, whose step does not matter
    if (view.size[d] > 1 && !translate(view.strides[std::size_t(d)], strides[d])) return false;
  }
  return true;
}

}  // namespace

void finish_inplace(const Tensor& self, Ref<Node> node) {
  Body& b = *self.body();
  if (!b.base) {
    attach(self, node.get());
    ++b.version();
    return;
  }
  const Tensor base(b.base);
  auto through = Ref<Node>::adopt(static_cast<Node*>(new WriteThroughView));
  auto& w = static_cast<WriteThroughView&>(*through);
  const bool pairs = in_pairs(*base.body(), b);
  const ViewGeometry to = pairs ? geometry_in_pairs(b) : view_geometry(b);
  if (!rebased_strides(pairs ? geometry_in_pairs(*base.body()) : view_geometry(*base.body()), to,
                       w.strides, w.offset))
    fail<RuntimeError>(
        "an in-place operation on this view cannot be recorded: its geometry does not follow its "
        "base's\nwork on a clone()");
  w.shape = to.size;
  w.of_complex = pairs && is_complex(base.dtype());
  w.of_real = pairs && !w.of_complex;
  w.add_input(base);
  for (std::size_t i = 1; i < node->inputs; ++i) w.add_edge(node->next(i));
  w.keep(std::move(node));
  attach(base, through.get());
  ++b.version();
  base->node_version = b.version();
  gradient_node(b);  // now, so that the view's own requires_grad shows it
}

}  // namespace rushlight
