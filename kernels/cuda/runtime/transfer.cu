// Bytes between the host and the devices, and from device to device; pinned host memory. The host
// waits only for what it is about to read, or to change.
#include <map>

#include "devices.h"
#include "memory.h"

namespace rushlight::gpu {
namespace {

struct OnStream {
  int device;
  cudaStream_t stream;
};
// What `later` is given from now on waits for what `earlier` has been given; the host does not.
void order(OnStream earlier, OnStream later) {
  cudaEvent_t event = nullptr;
  {
    const OnDevice there(earlier.device);
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "copy");
    check(cudaEventRecord(event, earlier.stream), "copy");
  }
  const OnDevice there(later.device);
  check(cudaStreamWaitEvent(later.stream, event, 0), "copy");
  check(cudaEventDestroy(event), "copy");  // it goes when it has come to pass
}

// Copies that may still read pinned memory, by the address they read from: until they are done it
// is not given back.
struct Readings {
  std::mutex mutex;
  std::multimap<const void*, cudaEvent_t> events;
};
Readings& readings() {
  static auto* all = new Readings;  // never destroyed: a tensor may outlive main
  return *all;
}

void note_reading(const void* from, cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "copy");
  check(cudaEventRecord(event, stream), "copy");
  const std::lock_guard lock(readings().mutex);
  auto& events = readings().events;
  auto [at, end] = events.equal_range(from);
  while (at != end) {  // a buffer that is filled and copied again and again
    if (cudaEventQuery(at->second) != cudaSuccess) {
      cudaGetLastError();
      ++at;
      continue;
    }
    cudaEventDestroy(at->second);
    at = events.erase(at);
  }
  events.emplace(from, event);
}

void await_readings(const void* block, std::size_t bytes) noexcept {
  const std::lock_guard lock(readings().mutex);
  auto& events = readings().events;
  const auto begin = events.lower_bound(block);
  const auto end = events.lower_bound(static_cast<const char*>(block) + bytes);
  for (auto at = begin; at != end; ++at)
    if (cudaEventSynchronize(at->second) != cudaSuccess ||
        cudaEventDestroy(at->second) != cudaSuccess)
      cudaGetLastError();
  events.erase(begin, end);
}

// Also memory that another library has registered, and a view of ours by another name.
bool is_pinned(const void* host) {
  cudaPointerAttributes about = {};
  if (cudaPointerGetAttributes(&about, host) == cudaSuccess)
    return about.type == cudaMemoryTypeHost;
  cudaGetLastError();
  return false;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  void* block = nullptr;
  if (cudaHostAlloc(&block, bytes, cudaHostAllocPortable) == cudaSuccess) return block;
  cudaGetLastError();
  return nullptr;
}
void release_pinned(void* block, std::size_t bytes) noexcept {
  await_readings(block, bytes);
  if (cudaFreeHost(block) != cudaSuccess) cudaGetLastError();
}

void copy_bytes(const ByteCopy& c) {
  if (c.bytes == 0) return;
  const cudaStream_t stream = current().stream;
  if (c.to_index >= 0 && c.from_index >= 0 && c.to_index != c.from_index) {
    // The driver goes through the host where the devices cannot reach each other.
    const auto source = reinterpret_cast<cudaStream_t>(c.from_stream);
    order({c.from_index, source}, {c.to_index, stream});
    check(cudaMemcpyPeerAsync(c.to, c.to_index, c.from, c.from_index, c.bytes, stream), "copy");
    order({c.to_index, stream}, {c.from_index, source});
    if (blocking()) check(cudaStreamSynchronize(stream), "copy");
    return;
  }
  check(cudaMemcpyAsync(c.to, c.from, c.bytes, cudaMemcpyDefault, stream), "copy");
  // Pageable memory has been read when the call returns: the driver takes a copy.
  const bool to_host = c.to_index < 0, from_pinned = c.from_index < 0 && is_pinned(c.from);
  if (from_pinned && c.non_blocking) note_reading(c.from, stream);
  if (to_host || (from_pinned && !c.non_blocking) || blocking())
    check(cudaStreamSynchronize(stream), "copy");
  if (to_host) raise_notes();
}

}  // namespace rushlight::gpu
