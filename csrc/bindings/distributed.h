// What the files of _C._distributed share.
#pragma once
#include <pybind11/cast.h>

#include "distributed/errors.h"

namespace pybind11 {
class module_;
}

namespace rushlight::python {

// A timedelta, or a float of seconds.
distributed::Milliseconds milliseconds(pybind11::handle timeout);

void bind_engine(pybind11::module_& m);  // called by bind_distributed

}  // namespace rushlight::python
