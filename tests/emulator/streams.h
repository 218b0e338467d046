// Streams of the emulator. Work is done when it is given, or, where RUSHLIGHT_EMULATED_LAZY=1, only
// when its stream, device or event is waited for: then a result that nothing has waited for is not
// there yet, and a reader gets NaN.
#pragma once
#include <cstdint>
#include <functional>

using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;

namespace emulator {

bool is_lazy();
void put_off(cudaStream_t stream, std::function<void()> work);  // the null stream: the device's own
// Runs the work, or keeps it for later.
template <class F>
void give(cudaStream_t stream, F&& work) {
  if (is_lazy())
    put_off(stream, std::forward<F>(work));
  else
    work();
}
void wait_for_device(int device);
std::uint64_t waits();  // how often the host has waited for a stream, a device or an event

int device_of(cudaStream_t stream);  // the current one for the null stream
// runtime.cpp
int current_device();
// A forked child may not call the runtime: there it is an error, or waits for ever.
void refuse_in_child(const char* call);

}  // namespace emulator
