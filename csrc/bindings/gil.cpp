// Taking and giving up the interpreter's lock; what becomes of threads that outlive it.
#include "bindings/gil.h"

#include <atomic>
#include <cxxabi.h>
#include <pthread.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

namespace py = pybind11;

namespace rushlight::python {
namespace {

std::atomic<pthread_t> ends_it{};  // the thread that called Py_Finalize

[[noreturn]] void wait_for_the_end() {
  for (;;) pause();
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// take() asks for the lock.
template <class F>
auto unless_it_ends(F take) {
  if ((is_finalizing() || !Py_IsInitialized()) && ends_it && ends_it != pthread_self())
    wait_for_the_end();
  try {
    return take();
  } catch (abi::__forced_unwind&) {  // it ended meanwhile; the lock is not held
    wait_for_the_end();
  }
}

}  // namespace

GilHeld::GilHeld() : before_(unless_it_ends([] { return int(PyGILState_Ensure()); })) {}
GilHeld::~GilHeld() { PyGILState_Release(PyGILState_STATE(before_)); }

GilReleased::GilReleased() : thread_(PyEval_SaveThread()) {}
GilReleased::~GilReleased() { take_gil_back(thread_); }

void take_gil_back(void* thread) {
  unless_it_ends([&] { PyEval_RestoreThread(static_cast<PyThreadState*>(thread)); });
}

void watch_for_the_end() {
  py::module_::import("atexit").attr("register")(
      py::cpp_function([] { ends_it = pthread_self(); }));
}

}  // namespace rushlight::python
