// A detached thread that takes no signals: those are for Python's main thread.
#pragma once
#include <thread>

#include "distributed/errors.h"
#include "kernels/signals.h"

namespace rushlight::distributed {

template <class F>
void start_thread(F body) {
  const SignalsBlocked blocked;
  try {
    std::thread(std::move(body)).detach();
  } catch (const std::system_error& e) {
    fail<BackendError>("no thread for a process group: ", e.what());
  }
}

}  // namespace rushlight::distributed
