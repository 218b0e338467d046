// Giving up the interpreter's lock for long work, and taking it back.
#include "core/unlocked.h"

#include "core/computing.h"

namespace rushlight {

static std::atomic<int> computing = 0;
int computing_threads() { return computing; }

void Unlocked::hold(const Tensor& t) {
  if (!t || count_ == kHeld) return;
  held_[count_] = t->storage.get();
  ++held_[count_]->in_use;
  held_[count_++]->retain();
}

void Unlocked::unlock(std::initializer_list<const Tensor*> held, std::span<const Tensor> more) {
  count_ = 0;
  for (const Tensor* t : held) hold(*t);
  for (const Tensor& t : more) hold(t);
  ++computing;
  if (interpreter.meanwhile) interpreter.meanwhile();
  state_ = interpreter.release();
}

void Unlocked::lock() {
  if (state_) interpreter.acquire(state_);
  --computing;
  for (int i = 0; i < count_; ++i) --held_[i]->in_use;
  for (int i = 0; i < count_; ++i)
    if (held_[i]->release()) destroy(held_[i]);
}

}  // namespace rushlight
