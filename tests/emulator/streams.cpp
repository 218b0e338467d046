// Streams and events: queues of work, each done in its order, and the positions in them.
#include "streams.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

// `given` and `done` count the pieces of work.
struct EmulatedStream {
  int device;
  std::deque<std::function<void()>> work;
  std::uint64_t given = 0, done = 0;
};
struct EmulatedEvent {
  bool timed;
  int device;
  EmulatedStream* stream = nullptr;  // null: never recorded, so nothing to wait for
  std::uint64_t place = 0;
  std::chrono::steady_clock::time_point at{};
};

namespace emulator {
namespace {

std::recursive_mutex turn;  // a piece of work may wait for another stream
std::atomic<std::uint64_t> waited{0};
std::atomic<std::int64_t> events{0};
std::atomic<std::uint64_t> library_calls{0};

std::vector<EmulatedStream*>& streams() {
  static auto* all = new std::vector<EmulatedStream*>;
  return *all;
}
EmulatedStream* default_stream(int device) {
  for (EmulatedStream* s : streams())
    if (s->device == device) return s;  // the first of a device
  streams().push_back(new EmulatedStream{device, {}});
  return streams().back();
}
EmulatedStream* resolve(cudaStream_t s) { return s ? s : default_stream(current_device()); }

void run_to(EmulatedStream* s, std::uint64_t place) {
  const std::lock_guard lock(turn);
  while (s->done < place && !s->work.empty()) {
    const auto work = std::move(s->work.front());
    s->work.pop_front();
    work();
    ++s->done;
  }
}

void host_waits(EmulatedStream* s, std::uint64_t place) {
  ++waited;
  run_to(s, place);
}

}  // namespace

bool is_lazy() {
  static const bool yes = std::getenv("RUSHLIGHT_EMULATED_LAZY") != nullptr;
  return yes;
}

void put_off(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(turn);
  EmulatedStream* s = resolve(stream);
  s->work.push_back(std::move(work));
  ++s->given;
}

void wait_for_device(int device) {
  ++waited;
  const std::lock_guard lock(turn);
  default_stream(device);
  for (std::size_t i = 0; i < streams().size(); ++i)
    if (streams()[i]->device == device) run_to(streams()[i], streams()[i]->given);
}

std::uint64_t waits() { return waited; }

int device_of(cudaStream_t stream) { return stream ? stream->device : current_device(); }

}  // namespace emulator

using namespace emulator;

// For tests, and for the libraries of libraries/.
extern "C" __attribute__((visibility("default"))) std::uint64_t emulated_waits() { return waits(); }
extern "C" __attribute__((visibility("default"))) std::int64_t emulated_events() { return events; }
extern "C" __attribute__((visibility("default"))) void emulated_give(cudaStream_t stream,
                                                                     void (*work)(void*),
                                                                     void* with) {
  ++library_calls;
  give(stream, [=] { work(with); });
}
// How many pieces of work the libraries of libraries/ have given to streams.
extern "C" __attribute__((visibility("default"))) std::uint64_t emulated_library_calls() {
  return library_calls;
}
// Work that several streams meet for: it is done once, when the first of them comes to it, after
// what each of them was given before.
extern "C" __attribute__((visibility("default"))) void emulated_meet(cudaStream_t const* meeting,
                                                                     const int* devices, int count,
                                                                     void (*work)(void*),
                                                                     void* with) {
  if (!is_lazy()) return work(with);
  const std::lock_guard lock(turn);
  struct Meeting {
    std::vector<std::pair<EmulatedStream*, std::uint64_t>> before;
    bool done = false;
  };
  auto all = std::make_shared<Meeting>();
  for (int i = 0; i < count; ++i) {
    EmulatedStream* s = meeting[i] ? meeting[i] : default_stream(devices[i]);
    all->before.emplace_back(s, s->given);
  }
  for (const auto& [stream, place] : all->before)
    put_off(stream, [=] {
      if (std::exchange(all->done, true)) return;
      for (const auto& [other, earlier] : all->before) run_to(other, earlier);
      work(with);
    });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int) {
  if (!(flags & cudaStreamNonBlocking)) return cudaErrorInvalidValue;  // it would wait for stream 0
  const std::lock_guard lock(turn);
  default_stream(current_device());
  *s = new EmulatedStream{current_device(), {}};
  streams().push_back(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(turn);
  const EmulatedStream* s = resolve(stream);
  return s->done == s->given ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(turn);
  EmulatedStream* s = resolve(stream);
  host_waits(s, s->given);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  const std::lock_guard lock(turn);
  if (e->stream) give(stream, [on = e->stream, place = e->place] { run_to(on, place); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
  refuse_in_child("cudaEventCreate");
  ++events;
  *e = new EmulatedEvent{!(flags & cudaEventDisableTiming), current_device()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  refuse_in_child("cudaEventDestroy");
  --events;
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
  const std::lock_guard lock(turn);
  if (e->device != device_of(stream)) return cudaErrorInvalidResourceHandle;
  e->stream = resolve(stream);
  e->place = e->stream->given;
  e->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  const std::unique_lock lock(turn, std::try_to_lock);
  if (!lock) return cudaErrorNotReady;  // another thread waits for what a stream does
  return !e->stream || e->stream->done >= e->place ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  const std::lock_guard lock(turn);
  if (e->stream) host_waits(e->stream, e->place);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  if (!a->timed || !b->timed || !a->stream || !b->stream) return cudaErrorInvalidValue;
  *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return cudaEventQuery(a) == cudaSuccess && cudaEventQuery(b) == cudaSuccess ? cudaSuccess
                                                                              : cudaErrorNotReady;
}
