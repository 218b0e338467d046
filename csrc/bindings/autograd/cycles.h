// What a backward pass that is itself recorded leaves behind.
#pragma once
#include <pybind11/pybind11.h>

#include "bindings/warnings.h"

namespace rushlight::python {

inline void warn_of_cycles(bool create_graph) {
  static bool done = false;
  if (create_graph &&
      !warn_once(done,
                 "Using backward() with create_graph=True will create a reference cycle between "
                 "the parameter and its gradient, and neither is freed: call autograd.grad(), or "
                 "set .grad to None when it was used."))
    throw pybind11::error_already_set();
}

}  // namespace rushlight::python
