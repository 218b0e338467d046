// Placeholders of saved tensors, and what waits for its pack hook.
#include "autograd/saved_hooks.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include "autograd/record.h"
#include "autograd/waiting.h"
#include "core/error.h"

namespace rushlight {
namespace {

// What a placeholder was put for; it is the owner of the placeholder's storage, which has no bytes.
struct Kept : Shared {
  Tensor original;  // until it is packed
  Tensor result;  // with its history, where `original` is a result without it; until then too
  std::uint32_t version = 0;
  Ref<SavedHooks> hooks;
  Ref<PackedValue> value;
  // What the unpacked tensor must look like, and its history.
  Shape shape;
  DType dtype = DType::float32;
  Device device;
  bool contiguous = true, requires_grad = false;
  bool is_recomputed = false;  // not through a hook
  Edge history;
};
void destroy(Kept* k) { delete k; }

void release_kept(Storage& s) noexcept { Ref<Kept>::adopt(static_cast<Kept*>(s.owner)); }

Kept& kept_of(const Tensor& placeholder) {
  return *static_cast<Kept*>(placeholder->storage->owner);
}

Tensor placeholder_of(Ref<Kept> kept, DType dtype) {
  Tensor made = empty({0}, dtype, Device{DeviceType::meta, -1});
  made->storage = Storage::borrow(nullptr, 0, kept.detach(), release_kept);
  return made;
}

Tensor placeholder_for(const Tensor& t, std::uint32_t version, const Tensor* result) {
  auto kept = Ref<Kept>::adopt(new Kept);
  kept->original = t;
  kept->version = version;
  if (result) kept->result = *result;
  kept->hooks = Ref<SavedHooks>::share(saved_hooks);
  return placeholder_of(std::move(kept), t.dtype());
}

// The lists of this thread; made on first use, and gone with the thread.
struct Lists {
  std::vector<Tensor> waiting;
  std::deque<std::pair<Tensor, Tensor>> shown;  // placeholder, unpacked: addresses stay as it grows
};
Lists& lists() {
  static thread_local Lists of_thread;
  return of_thread;
}

[[gnu::tls_model("initial-exec")]] constinit thread_local bool saved_inference = false;

[[noreturn]] void fail_inference() {
  fail<RuntimeError>(
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
      "inference mode in computation tracked by autograd. To work around this, you can make a "
      "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
      "`torch.inference_mode()`.");
}

void describe_in(Kept& k, const Tensor& t) {
  Node* node = wants_grad(t) ? gradient_node(*t.body()) : nullptr;
  k.shape = t.shape();
  k.dtype = t.dtype();
  k.device = t.device();
  k.contiguous = t.is_contiguous();
  k.requires_grad = node != nullptr;
  if (node) k.history = {Ref<Node>::share(node), t->node == node ? t->output : 0u};
}

void pack(Kept& k) {
  const Tensor t = k.original;
  describe_in(k, t);
  {
    const GradMode off(false);
    k.value = k.hooks->pack(k.result ? k.result : t, t);
  }
  if (t->version() != k.version)
    fail<RuntimeError>(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
        "pack hook cannot be modified by in-place operations as this can lead to unexpected "
        "side-effects. Please open an issue if you need to perform in-place operations on the "
        "input to a pack hook.\nwrite to a clone() in the hook instead");
  k.original = k.result = Tensor();
  k.hooks = nullptr;
}

// A tensor with the values that came out of the hook and the history of the one that went in.
Tensor fitted(const Kept& k, const Tensor& given) {
  if (!same(given.sizes(), k.shape) || given.device() != k.device)
    fail<RuntimeError>("a saved tensor unpack hook returned another tensor than was packed\n",
                       "packed: ", k.dtype, " ", k.shape, " on ", k.device, "; ",
                       describe("unpacked", given),
                       "; return a tensor of the packed one's shape on its device");
  const GradMode off(false);
  Tensor out = alias(like_saved(given, k.dtype, k.contiguous));
  if (k.requires_grad) {
    k.history.node->retain();
    out->node = k.history.node.get();
    out->output = std::uint16_t(k.history.output);
    out->requires_grad = true;
    out->node_version = out->version();
  }
  return out;
}

// What computes t again: of a view of all elements of a result, in their order, the result's node.
PackedValue* recompute_of(const Tensor& t) {
  const Body& whole = t->base ? *t->base : *t.body();
  if (!whole.node || !whole.node->recompute || whole.node_version != t->version()) return nullptr;
  const bool is_all = t->contiguous && whole.contiguous && t->numel == whole.numel &&
                      t->dtype == whole.dtype && t->storage.get() == whole.storage.get();
  return is_all ? whole.node->recompute.get() : nullptr;
}

struct Reshaped final : PackedValue {
  Ref<PackedValue> value;
  Shape shape;
  Reshaped(PackedValue& v, const Shape& s) : value(Ref<PackedValue>::share(&v)), shape(s) {}
  Tensor unpack() override {
    Strides strides{};
    contiguous_strides(shape, strides);
    return geometry(value->unpack(), shape.view(), strides.data(), 0);
  }
};

}  // namespace

Saved Saved::recomputed(const Tensor& t) {
  PackedValue* const value = saved_hooks ? nullptr : recompute_of(t);
  if (!value) return Saved(t);
  auto kept = Ref<Kept>::adopt(new Kept);
  describe_in(*kept, t);
  kept->value = Ref<PackedValue>::adopt(new Reshaped(*value, t.shape()));
  kept->is_recomputed = true;
  Saved saved;
  saved.tensor_ = placeholder_of(std::move(kept), t.dtype());
  saved.version_ = saved.tensor_->version() + 1;
  return saved;
}

bool is_recomputed(const Tensor& placeholder) { return kept_of(placeholder).is_recomputed; }

void note_saved(Tensor& t, std::uint32_t& version, const Tensor* result) {
  saved_waits = true;
  saved_inference |= t->inference;
  if (!saved_hooks) return;
  t = placeholder_for(t, version, result);
  version = t->version() + 1;
  lists().waiting.push_back(t);
}

bool is_placeholder(const Tensor& t) { return t->storage->release_memory == release_kept; }

Tensor unpacked(const Tensor& placeholder, const Node* maker) {
  const Tensor held = placeholder;  // the hook may free the graph
  Kept& k = kept_of(held);
  if (k.original) {  // its hook was never called: what kept it was not recorded by record()
    if (k.original->version() != k.version) Saved::fail_modified(k.original, k.version, maker);
    return k.original;
  }
  if (!k.value) fail_second_backward();  // its pack hook raised
  const Ref<PackedValue> value = k.value;
  return fitted(k, value->unpack());
}

const Tensor& show(const Tensor& placeholder, const Node* maker) {
  for (const auto& [of, made] : lists().shown)
    if (of.is_same(placeholder)) return made;
  Tensor made = unpacked(placeholder, maker);
  lists().shown.emplace_back(placeholder, std::move(made));
  ++shown_saved;
  return lists().shown.back().second;
}

void refuse_saved_inference() {
  if (!saved_inference) return;
  drop_saved();
  fail_inference();
}

void pack_waiting() {
  saved_waits = false;
  const std::vector<Tensor> waiting = std::exchange(lists().waiting, {});
  for (const Tensor& t : waiting)
    if (!t->is_unique()) pack(kept_of(t));  // else the operation that made it was not recorded
}

void swap_last_waiting() {
  std::vector<Tensor>& waiting = lists().waiting;
  const std::size_t n = waiting.size();
  if (n >= 2) std::swap(waiting[n - 1], waiting[n - 2]);
}

void drop_saved() noexcept {
  saved_inference = false;
  // What an operation around this one is about to record is held by its lambda. The others are let
  // go last: that may run Python.
  std::vector<Tensor>& waiting = lists().waiting;
  const auto held = std::partition(waiting.begin(), waiting.end(),
                                   [](const Tensor& t) { return t->is_unique(); });
  const std::vector<Tensor> gone(std::make_move_iterator(waiting.begin()),
                                 std::make_move_iterator(held));
  waiting.erase(waiting.begin(), held);
  saved_waits = !waiting.empty();
}

void ShownScope::forget_shown(std::size_t mark) noexcept {
  std::vector<std::pair<Tensor, Tensor>> last;  // let go when the lists are whole again
  auto& shown = lists().shown;
  while (shown.size() > mark) {
    last.push_back(std::move(shown.back()));
    shown.pop_back();
  }
  shown_saved = shown.size();
}

}  // namespace rushlight
