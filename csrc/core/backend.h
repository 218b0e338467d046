// backend(device): the table of a device, after making it current. Providers register here.
#pragma once
#include "core/device.h"
#include "kernels/backend.h"

namespace rushlight {

extern const Backend cpu_backend;  // csrc/devices/cpu.cpp

// What a provider of "cuda" devices is to the rest of the library.
struct CudaRuntime {
  const Backend* table;
  int (*device_count)();
  int (*current_device)();
  void (*set_device)(int index);
};
// Null where there is none. `why` is then the sentence of the error: no driver, no device, ...
const CudaRuntime* cuda_runtime();
void set_cuda_runtime(const CudaRuntime* runtime);
// Called when a CUDA device is asked for and no runtime is there: may install one, else throws.
extern void (*initialize_cuda)();

const Backend& backend_table(Device device);  // without making it current
const Backend& backend(Device device);

// "cuda" becomes "cuda:<current>"; an index beyond the devices raises torch's error.
Device resolve(Device device);

}  // namespace rushlight
