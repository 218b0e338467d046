// Warnings that come once in a process, unless torch.set_warn_always(True) requests all of them.
#pragma once
#include <Python.h>

namespace rushlight::python {

inline bool warn_always = false;

// false with the warning as an error. `done` belongs to the line that warns.
inline bool warn_once(bool& done, const char* words) {
  if (done && !warn_always) return true;
  done = true;
  return PyErr_WarnEx(PyExc_UserWarning, words, 1) == 0;
}

}  // namespace rushlight::python
