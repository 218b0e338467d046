// backend(device): the table of a device, after making it current; the CPU always is.
#pragma once
#include "core/device.h"
#include "kernels/backend.h"

namespace rushlight {

extern const Backend cpu_backend;  // csrc/devices/cpu.cpp

const Backend& backend_table(Device device);  // without making it current
const Backend& entered_backend(Device device);  // for what is not the CPU
inline const Backend& backend(Device device) {
  if (device.is_cpu()) [[likely]]
    return cpu_backend;
  return entered_backend(device);
}

// "cuda" becomes "cuda:<current>"; an index beyond the devices raises torch's error.
Device resolve(Device device);

}  // namespace rushlight
