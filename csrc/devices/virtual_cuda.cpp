// The virtual provider of cuda: CPU kernels under a simulated runtime. Every device has memory of
// its own with a capacity; streams keep no queue, as each call is done when it returns.
#include <chrono>
#include <cstring>
#include <pthread.h>

#include "core/backend.h"
#include "core/error.h"
#include "devices/providers.h"
#include "devices/virtual_machine.h"

namespace rushlight {
namespace {

// In a forked child, memory that it inherited stays where it is: a thread that is not there may
// hold the lock of its allocator.
std::atomic<int> forks{0};

// Before each block of device memory. It holds its machine, which may be gone when it is freed.
struct alignas(64) Header {
  Ref<VirtualMachine> machine;
  VirtualDevice* device;
  VirtualAllocator::Block* block;
  int fork;  // in which process it was taken
};
static_assert(sizeof(Header) == 64);

VirtualDevice& device_of(int index, const Ref<VirtualMachine>& machine) {
  VirtualDevice* device = machine ? machine->device(index) : nullptr;
  if (!device) fail<RuntimeError>("there is no virtual GPU cuda:", index, " any more");
  return *device;
}

int device_count() {
  const auto machine = active_machine();
  return machine ? int(machine->visible().size()) : 0;
}

std::uint32_t generation(int) { return active_number(); }

void properties(int index, DeviceProperties* out) {
  const auto machine = active_machine();
  *out = device_of(index, machine).properties;
}

void* allocate(int index, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  auto machine = active_machine();
  VirtualDevice& device = device_of(index, machine);
  auto* block =
      bytes > std::size_t(INT64_MAX) ? nullptr : device.allocator.take(std::int64_t(bytes));
  if (!block) return nullptr;
  void* place;
  try {
    place = BlockCache::take(sizeof(Header) + bytes);
  } catch (const std::bad_alloc&) {
    device.allocator.give(block);
    fail<RuntimeError>("the host has no memory left for ", bytes, " bytes of virtual GPU ", index,
                       "; virtual GPUs live in the memory of this machine");
  }
  new (place) Header{std::move(machine), &device, block, forks.load(std::memory_order_relaxed)};
  write_figures(device);
  return static_cast<char*>(place) + sizeof(Header);
}

void release(int, void* block, std::size_t bytes) noexcept {
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(block) - sizeof(Header));
  if (header->fork != forks.load(std::memory_order_relaxed)) return;
  header->device->allocator.give(header->block);
  write_figures(*header->device);
  header->~Header();
  BlockCache::give(header, sizeof(Header) + bytes);
}

void copy_bytes(const ByteCopy& c) {
  if (c.bytes) std::memmove(c.to, c.from, c.bytes);
}

void memory_info(int index, std::int64_t* free, std::int64_t* total) {
  const auto machine = active_machine();
  const VirtualDevice& device = device_of(index, machine);
  *total = device.properties.total_memory;
  *free = *total - device.allocator.bytes().reserved;
}

void memory_stats(int index, MemoryStats* out) {
  const auto machine = active_machine();
  *out = device_of(index, machine).allocator.stats();
}

void reset_memory_stats(int index, bool peaks) {
  const auto machine = active_machine();
  device_of(index, machine).allocator.reset_stats(peaks);
}

void limit_memory(int index, std::int64_t bytes) {
  const auto machine = active_machine();
  device_of(index, machine).allocator.set_limit(bytes);
}

void empty_cache() {
  const auto machine = active_machine();
  if (!machine) return;
  for (const auto& device : machine->devices) {
    device->allocator.release_cache();
    write_figures(*device);
  }
}

void* allocate_pinned(std::size_t bytes) { return BlockCache::take(bytes); }
void release_pinned(void* block, std::size_t bytes) noexcept { BlockCache::give(block, bytes); }

bool can_access_peer(int from, int to) {
  const int count = device_count();
  return from != to && from >= 0 && to >= 0 && from < count && to < count;
}

// A stream is its number; all of its work is done. An event is a moment of the host's clock.
StreamId new_stream(int index, int priority) {
  static std::atomic<unsigned> streams[kMostVirtualDevices][2];
  const int high = priority < 0 ? 1 : 0;
  return StreamId(streams[index][high]++ % kStreams + 1) << 4 | StreamId(high);
}

struct Moment {
  std::chrono::steady_clock::time_point at{};
};

bool stream_done(int, StreamId) { return true; }
void stream_synchronize(int, StreamId) {}
void stream_wait(int, StreamId, void*) {}
void synchronize(int) {}

void* new_event(int, bool) { return new Moment; }
void release_event(void* event) noexcept { delete static_cast<Moment*>(event); }
void record_event(void* event, int, StreamId) {
  static_cast<Moment*>(event)->at = std::chrono::steady_clock::now();
}
bool event_done(void*) { return true; }
void event_synchronize(void*) {}
double event_elapsed(void* start, void* end) {
  const auto time = static_cast<Moment*>(end)->at - static_cast<Moment*>(start)->at;
  return std::chrono::duration<double, std::milli>(time).count();
}

constexpr DeviceRuntime kRuntime = {
    .device_count = device_count,
    .why_not_more = []() -> const char* { return nullptr; },
    .memory_source = [](int) -> const char* { return nullptr; },
    .generation = generation,
    .properties = properties,
    .memory_info = memory_info,
    .memory_stats = memory_stats,
    .reset_memory_stats = reset_memory_stats,
    .limit_memory = limit_memory,
    .empty_cache = empty_cache,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .can_access_peer = can_access_peer,
    .record_stream = [](int, void*, int, StreamId) {},
    .new_stream = new_stream,
    .stream_done = stream_done,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .new_event = new_event,
    .release_event = release_event,
    .record_event = record_event,
    .event_done = event_done,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
};

Backend make_backend() {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  Backend backend = cpu_backend;  // the kernels
  backend.name = "cuda (virtual)";
  backend.enter = nullptr;
  backend.allocate = allocate;
  backend.release = release;
  backend.copy_bytes = copy_bytes;
  backend.synchronize = synchronize;
  backend.runtime = &kRuntime;
  return backend;
}

}  // namespace

const Backend& virtual_cuda_backend() {
  static const Backend backend = make_backend();
  return backend;
}

}  // namespace rushlight
