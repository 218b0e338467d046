// The families that torch.nn.functional has beside torch's functions of the same name: one bind
// function each, called by bind_functional with the module _functional.
#pragma once
#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

// A UserWarning at the `frames`-th Python frame, the one that runs now being the first.
void warn_at(const std::string& text, std::int64_t frames);

void bind_losses(pybind11::module_& m);
void bind_pool_functional(pybind11::module_& m);
void bind_fold_functional(pybind11::module_& m);  // unfold, fold
void bind_fold(pybind11::module_& m);  // the shuffles, which torch has too: with the module _C
void bind_resample(pybind11::module_& m);  // also grid_sample

}  // namespace rushlight::python
