// A mutex whose holder may keep it for long. A thread that waits for it handles signals, until a
// deadline; a signal handler that locks it again in the thread that it interrupted gets an error,
// not a deadlock; a child forked meanwhile opens it again.
#pragma once
#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <unistd.h>
#include <utility>

#include "distributed/errors.h"

namespace rushlight::distributed {

class InterruptibleMutex {
 public:
  class Held {
   public:
    Held(InterruptibleMutex& mutex, Deadline deadline) : mutex_(mutex) {
      mutex.open_in_child();
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
    // Whether what the mutex keeps may be half written: once in a forked child.
    bool left_by_fork() const { return std::exchange(mutex_.left_by_fork_, false); }

   private:
    InterruptibleMutex& mutex_;
  };

 private:
  // The holder in the parent is not in the child, but for the one that forked.
  void open_in_child() {
    const pid_t own = getpid(), busy = -own;  // another thread of this process does it
    for (pid_t seen = process_; seen != own; seen = process_) {
      if (seen == busy || !process_.compare_exchange_strong(seen, busy)) {
        std::this_thread::yield();
        continue;
      }
      if (owner_ != std::this_thread::get_id()) {
        new (&mutex_) std::timed_mutex;
        owner_ = std::thread::id();
        left_by_fork_ = true;
      }
      process_ = own;
    }
  }

  std::timed_mutex mutex_;
  std::atomic<std::thread::id> owner_;
  std::atomic<pid_t> process_ = getpid();
  bool left_by_fork_ = false;  // under mutex_
};

}  // namespace rushlight::distributed
