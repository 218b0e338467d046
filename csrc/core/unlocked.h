// Unlocked: lets other Python threads run while a kernel works. Below about 2 us of work the lock
// is kept, as giving it up costs as much as a small op.
#pragma once
#include <initializer_list>
#include <span>

#include "core/tensor.h"

namespace rushlight {

// Set by the bindings. release() returns null if this thread does not hold the lock.
struct Interpreter {
  void* (*release)() = nullptr;
  void (*acquire)(void*) = nullptr;
  // For tests: what another thread may do while the lock is given up, done by this one.
  void (*meanwhile)() = nullptr;
  double least = 2000;  // nanoseconds of work for which the lock is given up
};
inline Interpreter interpreter;

class Unlocked {
 public:
  // While the lock is given up, another thread may drop or replace the caller's tensors, so their
  // storages are held here: all that a kernel reads or writes.
  Unlocked(double nanoseconds, std::initializer_list<const Tensor*> held,
           std::span<const Tensor> more = {}) {
    if (nanoseconds < interpreter.least || !interpreter.release) [[likely]]
      return;
    unlock(held, more);
  }
  ~Unlocked() {
    if (count_ >= 0) [[unlikely]]
      lock();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  void unlock(std::initializer_list<const Tensor*> held, std::span<const Tensor> more);
  void hold(const Tensor& t);
  void lock();

  // Counted by hand and set in unlock() only: most calls are small, and then this costs one test.
  static constexpr int kHeld = 16;
  int count_ = -1;  // below 0: the lock was kept
  void* state_;
  Storage* held_[kHeld];
};

}  // namespace rushlight
