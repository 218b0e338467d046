// CUDA as the library sees it: which provider, how many devices, which one is current, on which
// stream. Note: the current device and streams belong to a thread; the provider may
// change at any time (virtual GPUs come and go); a forked child may not use CUDA at all.
#pragma once
#include <atomic>
#include <string>

#include "core/backend.h"
#include "kernels/provider.h"
#include "kernels/runtime.h"

namespace rushlight {

struct CudaProvider {
  const Backend* table;  // null: none, and then
  std::string why_not;   // the whole text of the error
};
CudaProvider find_cuda();  // csrc/devices/cuda.cpp

// What a provider is given when it is loaded; csrc/bindings puts the search for libraries in.
extern MathSwitches math_switches;
extern ProviderHost provider_host;

// What a call does that makes the host wait for a GPU: torch.cuda.set_sync_debug_mode().
enum class SyncDebug { nothing, warns, raises };
inline std::atomic<SyncDebug> sync_debug{SyncDebug::nothing};

// None of these raises where there is no CUDA.
int cuda_device_count();
bool cuda_is_initialized();
bool cuda_forked();            // a child of a process that had CUDA in use
std::string cuda_why_not();    // empty where there is a device
void forget_cuda();            // the devices have changed: look again at the next use

// Initialises. Raises why there is no CUDA, or torch's words in a forked child.
const Backend& cuda_backend();
bool cuda_is_alive(std::uint32_t generation);  // whether devices of this generation are there
void check_cuda_index(int index);  // AcceleratorError "CUDA error: invalid device ordinal"

int current_cuda_device();
void set_current_cuda_device(int index);
StreamId current_stream(int index);
void set_current_stream(int index, StreamId stream);

// Memory of a device for a storage: raises OutOfMemoryError with torch's words and figures.
void* allocate_cuda(int index, std::size_t bytes);

}  // namespace rushlight
