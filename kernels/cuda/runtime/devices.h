// The devices of this process, as the provider's files share them: their number, what is made for
// each at its first use, and which one this thread is on.
#pragma once
#include <mutex>

#include "kernels/runtime.h"
#include "launch.h"

namespace rushlight::gpu {

inline constexpr int kMostDevices = 64;

int device_count();  // up to the first that this library has no code for
const char* why_not_more();
void enter(int index, StreamId stream);

// Restores the thread's device when a call that had to go to another one ends.
class OnDevice {
 public:
  explicit OnDevice(int index);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;

 private:
  int before_;
};

// Raises what kernels of any device have noted since the last call.
void raise_notes();

}  // namespace rushlight::gpu
