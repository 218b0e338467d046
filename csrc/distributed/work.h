// Work: one call that another thread executes, and what became of it.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>

#include "distributed/errors.h"

namespace rushlight::distributed {

class Work {
 public:
  // The first end counts; an empty text is success.
  void finish(const std::string& error) {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    done_ = true;
    error_ = error;
    changed_.notify_all();
  }
  // Whether it has ended before the deadline; looks at signals meanwhile.
  bool wait(Milliseconds timeout) {
    if (const auto why = not_of_this_process(process_); !why.empty()) fail<BackendError>(why);
    const Deadline deadline = after(timeout);
    std::unique_lock lock(mutex_);
    while (!done_) {
      if (Clock::now() >= deadline) return false;
      changed_.wait_until(lock, next_look(deadline));
      if (done_) break;
      lock.unlock();
      look_at_signals();
      lock.lock();
    }
    return true;
  }
  bool is_done() {
    if (getpid() != process_) return true;
    const std::lock_guard lock(mutex_);
    return done_;
  }
  std::string error() {
    if (auto why = not_of_this_process(process_); !why.empty()) return why;
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string error_;
};

}  // namespace rushlight::distributed
