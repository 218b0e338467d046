// What a provider of GPUs offers besides memory and kernels: which devices there are, statistics of
// their memory, streams and events. All functions are required. `index` is the logical index of a
// device, checked by the caller; a stream is an integer, 0 the default one of each device.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rushlight {

// One figure of a device's memory: now, its highest value, and the sums of both directions.
struct MemoryFigure {
  std::int64_t current, peak, allocated, freed;
};
struct MemoryStats {
  enum What {
    allocation,
    segment,
    active,
    inactive_split,
    allocated_bytes,
    reserved_bytes,
    active_bytes,
    inactive_split_bytes,
    requested_bytes,
    kWhats
  };
  enum Pool { all, large_pool, small_pool, kPools };
  MemoryFigure figures[kWhats][kPools];
  std::int64_t retries, out_of_memory, device_allocations, device_releases;
  std::int64_t limit = INT64_MAX;  // what this process may reserve
};

struct DeviceProperties {
  char name[128];
  char uuid[41];
  std::int64_t total_memory;
  int major, minor, multi_processor_count;
  int max_threads_per_multi_processor, max_threads_per_block, warp_size, regs_per_multiprocessor;
  int shared_memory_per_block, l2_cache_size;
};

using StreamId = std::uint64_t;
inline constexpr int kStreams = 32;  // of a device and priority, as torch has

struct DeviceRuntime {
  int (*device_count)();
  // Why there are not more of them than that, though the machine has more; or null.
  const char* (*why_not_more)();
  // Where memory comes from, if it is not the driver's own pool; or null.
  const char* (*memory_source)(int index);
  // Changes whenever devices are taken away: a storage remembers its value.
  std::uint32_t (*generation)(int index);
  void (*properties)(int index, DeviceProperties* out);

  void (*memory_info)(int index, std::int64_t* free, std::int64_t* total);
  void (*memory_stats)(int index, MemoryStats* out);
  void (*reset_memory_stats)(int index, bool peaks);  // the peaks, or else the sums
  void (*limit_memory)(int index, std::int64_t bytes);
  void (*empty_cache)();
  void* (*allocate_pinned)(std::size_t bytes);  // host memory that copies may run beside
  void (*release_pinned)(void* block, std::size_t bytes) noexcept;
  bool (*can_access_peer)(int from, int to);
  // A block of allocate() is given back only after what `stream`, of any device, has by then.
  void (*record_stream)(int index, void* block, int stream_index, StreamId stream);

  // The next of kStreams for each device and priority: never given back.
  StreamId (*new_stream)(int index, int priority);
  bool (*stream_done)(int index, StreamId stream);
  void (*stream_synchronize)(int index, StreamId stream);
  void (*stream_wait)(int index, StreamId stream, void* event);
  void* (*new_event)(int index, bool timing);
  void (*release_event)(void* event) noexcept;
  void (*record_event)(void* event, int index, StreamId stream);
  bool (*event_done)(void* event);
  void (*event_synchronize)(void* event);
  double (*event_elapsed)(void* start, void* end);  // milliseconds
};

}  // namespace rushlight
