// The one symbol that a library with a provider exports. csrc/devices/cuda.cpp loads it; the number
// changes with every change of Backend or of a table that it points to.
#pragma once
#include "backend.h"

namespace rushlight {

inline constexpr int kProviderAbi = 1;
inline constexpr const char* kProviderEntry = "rushlight_cuda_backend";

// Null where `abi` is not the library's own number.
using ProviderEntry = const Backend* (*)(int abi);

}  // namespace rushlight
