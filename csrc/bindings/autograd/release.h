// Letting go of Python objects that C++ holds, from any thread.
#pragma once
#include <pybind11/pybind11.h>

#include "bindings/gil.h"

namespace rushlight::python {

// At the end of a thread, or of the process, the interpreter may be gone: they stay then.
template <class... O>
void release_locked(O&... objects) {
  if (!Py_IsInitialized()) return (static_cast<void>(objects.release()), ...);
  const GilHeld gil;
  (static_cast<void>(pybind11::reinterpret_steal<pybind11::object>(objects.release())), ...);
}

}  // namespace rushlight::python
