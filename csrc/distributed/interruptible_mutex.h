// A mutex whose holder may keep it for long. A thread that waits for it handles signals, until a
// deadline; a signal handler that locks it again in the thread that it interrupted gets an error,
// not a deadlock.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

#include "distributed/errors.h"

namespace rushlight::distributed {

class InterruptibleMutex {
 public:
  class Held {
   public:
    Held(InterruptibleMutex& mutex, Deadline deadline) : mutex_(mutex) {
      if (mutex.owner_ == std::this_thread::get_id())
        fail<StoreError>("the store is in use by the call that this signal handler interrupted");
      while (!mutex.mutex_.try_lock_until(next_look(deadline))) {
        look_at_signals();
        if (Clock::now() >= deadline)
          fail<StoreError>("the store is in use by another thread: give each a clone()");
      }
      mutex.owner_ = std::this_thread::get_id();
    }
    ~Held() {
      mutex_.owner_ = std::thread::id();
      mutex_.mutex_.unlock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    InterruptibleMutex& mutex_;
  };

 private:
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

}  // namespace rushlight::distributed
