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
                 "the parameter and its gradient which can cause a memory leak. We recommend using "
                 "autograd.grad when creating the graph to avoid this. If you have to use this "
                 "function, make sure to reset the .grad fields of your parameters to None after "
                 "use to break the cycle and avoid the leak."))
    throw pybind11::error_already_set();
}

}  // namespace rushlight::python
