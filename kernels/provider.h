// The one symbol that a library with a provider exports, and what the provider may call of the
// program that loads it. csrc/devices/cuda.cpp does; the number changes with every change of
// Backend, of a table that it points to, or of ProviderHost.
#pragma once
#include <atomic>

#include "backend.h"

namespace rushlight {

inline constexpr int kProviderAbi = 17;
inline constexpr const char* kProviderEntry = "rushlight_cuda_backend";

// How exact and how repeatable results of NVIDIA's libraries are to be. The program writes them at
// any time; a provider reads them in each call.
struct MathSwitches {
  std::atomic<bool> tf32_products{false};
  std::atomic<bool> tf32_convolutions{true};
  std::atomic<bool> cudnn_enabled{true};
  std::atomic<bool> cudnn_deterministic{false};
  std::atomic<bool> deterministic_algorithms{false};
  std::atomic<bool> cudnn_benchmark{false};
};

struct ProviderHost {
  const MathSwitches* switches;
  // Writes where the library `name` ("cublasLt") lies and returns true, or why it was not found. It
  // may wait for the interpreter's lock, so the caller must hold no lock of its own. Null: no such
  // help.
  bool (*find_library)(const char* name, char* words, std::size_t size);
};

// Null where `abi` is not the library's own number. `host` stays as long as the process.
using ProviderEntry = const Backend* (*)(int abi, const ProviderHost* host);

}  // namespace rushlight
