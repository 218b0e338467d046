// Pack and unpack hooks of saved tensors (torch.autograd.graph.saved_tensors_hooks). Note:
// where hooks are on, a Saved keeps a placeholder of another version, so that without hooks
// nothing is tested beyond the check of versions that is made anyway.
#pragma once
#include "autograd/node.h"

namespace rushlight {

// The bindings derive from it.
struct SavedHooks : Shared {
  virtual ~SavedHooks() = default;
  // The hook is given t. If it gives t back, `plain` is kept, which does not keep t's history.
  virtual Ref<PackedValue> pack(const Tensor& t, const Tensor& plain) = 0;
};
inline void destroy(SavedHooks* h) { delete h; }

// Of this thread: the hooks in force, the innermost; borrowed from the context manager.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local SavedHooks* saved_hooks = nullptr;
// Of this thread: a Saved got an inference tensor, or one that waits for its pack hook. Lambdas are
// made before record() knows whether anything is recorded, so only check_saved() there acts on it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool saved_waits = false;

// Notes that `t` is saved; with hooks on, makes `t` a placeholder that waits for its pack hook.
// `result`: where t is a result without history, the result itself, which the hook will see.
void note_saved(Tensor& t, std::uint32_t& version, const Tensor* result);
// Whether a tensor of another version is such a placeholder.
bool is_placeholder(const Tensor& t);
bool is_recomputed(const Tensor& placeholder);  // by a node, not through a hook
// Whether a node with such a result offers to compute it again. Hooks are to see what is kept.
inline bool offers_recompute(std::int64_t numel, DType dtype) {
  constexpr std::int64_t kBytes = 1 << 20;
  return !saved_hooks && numel * std::int64_t(item_size(dtype)) >= kBytes;
}
// The unpacked tensor. show() keeps it until the step of the backward pass has ended, so that a
// hook is called once in a step.
Tensor unpacked(const Tensor& placeholder, const Node* maker);
const Tensor& show(const Tensor& placeholder, const Node* maker);

void refuse_saved_inference();
void pack_waiting();
void drop_saved() noexcept;
// Before history is made: throws if an inference tensor was saved.
inline void check_saved() {
  if (saved_waits) [[unlikely]]
    refuse_saved_inference();
}
// At the end of what records: calls the pack hooks that wait. They may do anything to any tensor.
inline void pack_saved() {
  if (saved_waits) [[unlikely]]
    pack_waiting();
}
// Nothing is recorded.
inline void forget_saved() {
  if (saved_waits) [[unlikely]]
    drop_saved();
}

// The steps of a backward pass: what was shown in one is let go at its end.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::size_t shown_saved = 0;
class ShownScope {
 public:
  ShownScope() : mark_(shown_saved) {}
  ~ShownScope() { end_step(); }
  ShownScope(const ShownScope&) = delete;
  void end_step() noexcept {
    if (shown_saved != mark_) [[unlikely]]
      forget_shown(mark_);
  }

 private:
  static void forget_shown(std::size_t mark) noexcept;
  std::size_t mark_;
};

}  // namespace rushlight
