// Exceptions of torch.distributed's own types, deadlines, and what a wait without a lock polls.
// Note: csrc/bindings/distributed maps each class to its Python type.
#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <unistd.h>

#include "core/error.h"
#include "kernels/parallel.h"

namespace rushlight::distributed {

struct DistError : RuntimeError {
  using RuntimeError::RuntimeError;
};
struct StoreError : DistError {
  using DistError::DistError;
};
struct NetworkError : DistError {
  using DistError::DistError;
};
struct BackendError : DistError {
  using DistError::DistError;
};
struct QueueEmptyError : StoreError {
  using StoreError::StoreError;
};

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
using Milliseconds = std::chrono::milliseconds;

// Ten years are for ever; more would overflow the clock's nanoseconds.
inline Deadline after(Milliseconds timeout) {
  constexpr Milliseconds longest = std::chrono::hours(24 * 3650);
  return Clock::now() + std::clamp(timeout, Milliseconds(0), longest);
}

// Until when one wait may last: signals (Ctrl-C) are looked at between two.
inline Deadline next_look(Deadline deadline, Milliseconds slice = Milliseconds(100)) {
  return std::min(deadline, Clock::now() + slice);
}

// Why a process that was forked from the one that an engine serves gets nothing of it; empty in
// that one. Asked before any lock is taken: the thread that had it at the fork is not in the child.
inline std::string not_of_this_process(pid_t process) {
  if (getpid() == process) return {};
  return text("this process group belongs to process ", process,
              ": a forked process cannot use it");
}

// Throws what a signal handler raised. No lock may be held.
inline void look_at_signals() {
  if (poll_interrupt) poll_interrupt();
}

}  // namespace rushlight::distributed
