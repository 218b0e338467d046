// cudaHostAlloc and cudaFreeHost may make the whole device wait, so a block goes back to the driver
// only when memory is short or empty_cache() is called. Note: a block lists the streams whose
// copies have read it, once each; events are recorded when it is released.
#include "pinned.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "memory.h"

namespace rushlight::gpu {
namespace {

struct Block {
  std::size_t bytes;  // rounded
  std::vector<OnStream> readers;
};
struct Released {
  void* data;
  std::size_t bytes;
  std::vector<cudaEvent_t> events;  // when all have come to pass, it is idle
};
struct PinnedMemory {
  std::mutex mutex;
  std::map<const char*, Block> taken;
  std::vector<Released> released;
  std::multimap<std::size_t, void*> idle;
};
PinnedMemory& pinned_memory() {
  static auto* all = new PinnedMemory;  // never destroyed: a tensor may outlive main
  return *all;
}

// To an eighth of the power of two below, so that batches of about the same size share blocks.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step =
      std::max<std::size_t>(std::bit_floor(std::max<std::size_t>(bytes, 1)) / 8, 512);
  return bytes > SIZE_MAX - step ? bytes
                                 : (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

bool is_done(cudaEvent_t event) {
  const bool done = cudaEventQuery(event) != cudaErrorNotReady;
  cudaGetLastError();
  return done;
}

// Finds what has become idle.
void collect(PinnedMemory& b, bool wait) {
  std::erase_if(b.released, [&](Released& r) {
    std::erase_if(r.events, [&](cudaEvent_t event) {
      if (wait && cudaEventSynchronize(event) != cudaSuccess) cudaGetLastError();
      if (!wait && !is_done(event)) return false;
      if (cudaEventDestroy(event) != cudaSuccess) cudaGetLastError();
      return true;
    });
    if (!r.events.empty()) return false;
    b.idle.emplace(r.bytes, r.data);
    return true;
  });
}

void free_idle(PinnedMemory& b) {
  for (const auto& [bytes, data] : b.idle)
    if (cudaFreeHost(data) != cudaSuccess) cudaGetLastError();
  b.idle.clear();
}

void* from_driver(std::size_t bytes) {
  void* data = nullptr;
  if (cudaHostAlloc(&data, bytes, cudaHostAllocPortable) == cudaSuccess) return data;
  cudaGetLastError();
  return nullptr;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  PinnedMemory& b = pinned_memory();
  const std::size_t size = rounded(bytes);
  const std::lock_guard lock(b.mutex);
  if (!b.released.empty()) collect(b, false);
  void* data = nullptr;
  if (const auto kept = b.idle.find(size); kept != b.idle.end()) {
    data = kept->second;
    b.idle.erase(kept);
  } else if (data = from_driver(size); !data) {
    collect(b, true);
    free_idle(b);
    data = from_driver(size);
  }
  if (data) b.taken[static_cast<const char*>(data)] = {size, {}};
  return data;
}

void release_pinned(void* block, std::size_t) noexcept {
  if (is_forked_child()) return;
  PinnedMemory& b = pinned_memory();
  const std::lock_guard lock(b.mutex);
  const auto found = b.taken.find(static_cast<const char*>(block));
  if (found == b.taken.end()) return;
  Released r{block, found->second.bytes, {}};
  const std::vector<OnStream> readers = std::move(found->second.readers);
  b.taken.erase(found);
  try {
    for (const OnStream& reader : readers) r.events.push_back(event_after(reader));
  } catch (...) {  // the device is lost: nothing reads any more
  }
  b.released.push_back(std::move(r));
  if (keeps_memory()) return;
  collect(b, true);
  free_idle(b);
}

void note_reading(const void* from, OnStream stream) {
  PinnedMemory& b = pinned_memory();
  const std::lock_guard lock(b.mutex);
  auto after = b.taken.upper_bound(static_cast<const char*>(from));
  if (after == b.taken.begin()) return;
  auto& [start, block] = *--after;
  if (static_cast<const char*>(from) >= start + block.bytes) return;  // another library's
  if (std::ranges::find(block.readers, stream) == block.readers.end())
    block.readers.push_back(stream);
}

bool is_pinned(const void* host) {
  cudaPointerAttributes about = {};
  if (cudaPointerGetAttributes(&about, host) == cudaSuccess)
    return about.type == cudaMemoryTypeHost;
  cudaGetLastError();
  return false;
}

void release_idle_pinned() {
  PinnedMemory& b = pinned_memory();
  const std::lock_guard lock(b.mutex);
  collect(b, false);
  free_idle(b);
}

}  // namespace rushlight::gpu
