// A detached thread with all signals blocked: those are for Python's main thread.
#pragma once
#include <signal.h>
#include <thread>

#include "distributed/errors.h"

namespace rushlight::distributed {

template <class F>
void start_thread(F body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(std::move(body)).detach();
  } catch (const std::system_error& e) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    fail<BackendError>("no thread for a process group: ", e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace rushlight::distributed
