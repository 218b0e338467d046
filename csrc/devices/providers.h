// The providers of "cuda" devices. csrc/core/cuda.cpp calls find_cuda() and no other name.
#pragma once
#include "core/cuda.h"

namespace rushlight {

const Backend& virtual_cuda_backend();

}  // namespace rushlight
