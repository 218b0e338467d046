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
    unlock(held);
  }
  ~Unlocked() {
    if (count_ >= 0) [[unlikely]]
      lock();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  void unlock(std::initializer_list<const Tensor*> held);
  void lock();

  // Counted by hand and set in unlock() only: most calls are small, and then this costs one test.
  static constexpr int kHeld = 8;
  int count_ = -1;  // below 0: the lock was kept
  void* state_;
  Storage* held_[kHeld];
};

}  // namespace rushlight
