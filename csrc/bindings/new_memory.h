// What torch.empty() and its like give under torch.use_deterministic_algorithms().
#pragma once
#include <atomic>

#include "core/tensor.h"

namespace rushlight::python {

inline std::atomic<bool> fills_new_memory{false};

// The tensor, filled with NaN or its dtype's largest integer if that is on.
Tensor settled(Tensor t);  // rows/creation.cpp

}  // namespace rushlight::python
