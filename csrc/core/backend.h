// backend(device): the table of a device, after making it current.
#pragma once
#include "core/device.h"
#include "kernels/backend.h"

namespace rushlight {

extern const Backend cpu_backend;  // csrc/devices/cpu.cpp

const Backend& backend_table(Device device);  // without making it current
const Backend& backend(Device device);

// "cuda" becomes "cuda:<current>"; an index beyond the devices raises torch's error.
Device resolve(Device device);

}  // namespace rushlight
