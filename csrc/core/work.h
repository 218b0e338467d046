// Unlocked: lets other Python threads run while a kernel works. Below about 2 us of work the lock
// is kept, as giving it up costs as much as a small op.
#pragma once
#include <initializer_list>

#include "core/tensor.h"

namespace rushlight {

// Set by the bindings. release() returns null if this thread does not hold the lock.
struct Interpreter {
  void* (*release)() = nullptr;
  void (*acquire)(void*) = nullptr;
};
inline Interpreter interpreter;

class Unlocked {
 public:
  // While the lock is given up, another thread may drop or replace the caller's tensors, so their
  // storages are held here.
  Unlocked(double nanoseconds, std::initializer_list<const Tensor*> held) {
    if (nanoseconds < 2000 || !interpreter.release) [[likely]]
      return;
    for (const Tensor* t : held)
      if (*t && count_ < kHeld) held_[count_++] = (*t)->storage;
    state_ = interpreter.release();
  }
  ~Unlocked() {
    if (state_) interpreter.acquire(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  static constexpr int kHeld = 8;
  Ref<Storage> held_[kHeld];
  int count_ = 0;
  void* state_ = nullptr;
};

}  // namespace rushlight
