// Turn: a lock whose holder may wait for long. A thread that waits for it handles signals, until a
// deadline; a signal handler that comes back to what it interrupted gets an error, not a deadlock.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

#include "distributed/errors.h"

namespace rushlight::distributed {

class Turn {
 public:
  class Held {
   public:
    Held(Turn& turn, Deadline deadline) : turn_(turn) {
      if (turn.owner_ == std::this_thread::get_id())
        fail<StoreError>("the store is in use by the call that this signal handler interrupted");
      while (!turn.mutex_.try_lock_until(next_look(deadline))) {
        look_at_signals();
        if (Clock::now() >= deadline)
          fail<StoreError>("the store is in use by another thread: give each a clone()");
      }
      turn.owner_ = std::this_thread::get_id();
    }
    ~Held() {
      turn_.owner_ = std::thread::id();
      turn_.mutex_.unlock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Turn& turn_;
  };

 private:
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

}  // namespace rushlight::distributed
