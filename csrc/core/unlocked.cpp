// Giving up the interpreter's lock for long work, and taking it back.
#include "core/unlocked.h"

namespace rushlight {

void Unlocked::unlock(std::initializer_list<const Tensor*> held) {
  count_ = 0;
  for (const Tensor* t : held) {
    if (!*t || count_ == kHeld) continue;
    held_[count_] = (*t)->storage.get();
    ++held_[count_]->in_use;
    held_[count_++]->retain();
  }
  state_ = interpreter.release();
}

void Unlocked::lock() {
  if (state_) interpreter.acquire(state_);
  for (int i = 0; i < count_; ++i) --held_[i]->in_use;
  for (int i = 0; i < count_; ++i)
    if (held_[i]->release()) destroy(held_[i]);
}

}  // namespace rushlight
