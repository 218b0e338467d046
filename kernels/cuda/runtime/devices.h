// The devices of this process, as the provider's files share them: their number, what is made for
// each at its first use, which one this thread is on, and what waits for what.
#pragma once
#include <mutex>

#include "current.h"
#include "kernels/runtime.h"

namespace rushlight::gpu {

inline constexpr int kMostDevices = 64;

int device_count();  // up to the first that this library has no code for
const char* why_not_more();
void enter(int index, StreamId stream);

// In a child of a process that has used the driver: no call of the runtime may be made, and a mutex
// may be held by a thread that is not there. What is given back is left alone.
bool is_forked_child();

// Restores the thread's device when a call that had to go to another one ends.
class OnDevice {
 public:
  explicit OnDevice(int index);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;

 private:
  int index_, before_;
};

struct OnStream {
  int device;
  cudaStream_t stream;
  bool operator==(const OnStream&) const = default;
};
// What `later` is given from now on waits for what `earlier` has been given; the host does not.
void order(OnStream earlier, OnStream later);
// An event after all that the stream has been given.
cudaEvent_t event_after(OnStream stream);

}  // namespace rushlight::gpu
