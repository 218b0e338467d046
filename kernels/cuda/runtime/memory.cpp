// Memory: each device has a pool of the driver (cudaMallocAsync's) that keeps what is freed, up to
// the end of the process or empty_cache(); a cache of ours where the driver has none. Note: a block
// is freed in the order of the stream it was taken on, and of those recorded for it.
// RUSHLIGHT_NO_CACHE=1 gives each tensor an allocation of its own, poisoned when it is freed, for
// compute-sanitizer.
#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "block_cache.h"
#include "kernels/device_error.h"
#include "pinned.h"

namespace rushlight::gpu {
namespace {

constexpr std::int64_t kBlock = 512;  // what a request is rounded up to, in the statistics
constexpr std::int64_t kSmall = 1 << 20;

// The streams of a block: where it was taken, and where else it is used.
struct Streams {
  cudaStream_t home = nullptr;
  std::vector<OnStream> others;
};
struct DeviceMemory {
  std::mutex mutex;
  std::once_flag made;
  bool has_pools = true;  // the driver
  cudaMemPool_t pool = nullptr;  // null also with RUSHLIGHT_NO_CACHE=1
  BlockCache cache;  // where there are no pools
  MemoryStats stats{};
  std::unordered_map<void*, Streams> streams;  // of blocks with others than the default stream
  // Where blocks are freed that several streams use: it waits for all of them, and no work for it.
  cudaStream_t freeing = nullptr;
};
DeviceMemory* all_memory() {
  static auto* all = new DeviceMemory[kMostDevices];
  return all;
}

DeviceMemory& memory_of(int index) {
  DeviceMemory& b = all_memory()[index];
  std::call_once(b.made, [&] {
    int pools = 0;
    check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, index), "memory pool");
    b.has_pools = pools != 0;
    if (!keeps_memory() || !pools) return;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = index;
    check(cudaMemPoolCreate(&b.pool, &props), "memory pool");
    std::uint64_t keep = UINT64_MAX;
    check(cudaMemPoolSetAttribute(b.pool, cudaMemPoolAttrReleaseThreshold, &keep), "memory pool");
    for (int other = 0; other < device_count(); ++other) {
      if (!can_access_peer(other, index)) continue;
      cudaMemAccessDesc access = {};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = other;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      check(cudaMemPoolSetAccess(b.pool, &access, 1), "access of peers");
    }
  });
  return b;
}

void count(DeviceMemory& b, MemoryStats::What what, std::int64_t size, std::int64_t change) {
  for (const int pool : {int(MemoryStats::all),
                         int(size <= kSmall ? MemoryStats::small_pool : MemoryStats::large_pool)}) {
    MemoryFigure& f = b.stats.figures[what][pool];
    f.current += change;
    f.peak = std::max(f.peak, f.current);
    (change > 0 ? f.allocated : f.freed) += change > 0 ? change : -change;
  }
}
void count_block(DeviceMemory& b, std::int64_t requested, int sign) {
  const std::int64_t size = (requested + kBlock - 1) / kBlock * kBlock;
  for (const auto what : {MemoryStats::allocation, MemoryStats::active}) count(b, what, size, sign);
  for (const auto what : {MemoryStats::allocated_bytes, MemoryStats::active_bytes})
    count(b, what, size, sign * size);
  count(b, MemoryStats::requested_bytes, size, sign * requested);
}
std::int64_t allocated(const DeviceMemory& b) {
  return b.stats.figures[MemoryStats::allocated_bytes][MemoryStats::all].current;
}

// What the pool holds, as it says itself.
void read_reserved(DeviceMemory& b) {
  std::uint64_t bytes = std::uint64_t(allocated(b));
  if (b.pool)
    check(cudaMemPoolGetAttribute(b.pool, cudaMemPoolAttrReservedMemCurrent, &bytes), "memory");
  else if (keeps_memory())
    bytes = b.cache.reserved();
  MemoryFigure& f = b.stats.figures[MemoryStats::reserved_bytes][MemoryStats::all];
  f.current = std::max(std::int64_t(bytes), allocated(b));
  f.peak = std::max(f.peak, f.current);
}

void* take(DeviceMemory& b, std::size_t bytes, cudaStream_t stream) {
  if (!b.pool && keeps_memory()) return b.cache.take(bytes, stream);
  void* block = nullptr;
  const cudaError_t error =
      b.pool ? cudaMallocFromPoolAsync(&block, bytes, b.pool, stream) : cudaMalloc(&block, bytes);
  if (error == cudaSuccess) return block;
  cudaGetLastError();
  if (error != cudaErrorMemoryAllocation) check(error, "allocation");
  return nullptr;
}

void give(DeviceMemory& b, void* block, std::size_t bytes, cudaStream_t stream) {
  if (b.pool) {
    if (cudaFreeAsync(block, stream) != cudaSuccess) cudaGetLastError();  // at exit: all is gone
  } else if (keeps_memory()) {
    b.cache.give(block, stream);
  } else {
    cudaMemsetAsync(block, 0xff, bytes, stream);  // a late reader reads NaN
    if (cudaFree(block) != cudaSuccess) cudaGetLastError();
  }
}

// The stream on which a block can be freed, after all that its streams have been given.
cudaStream_t after_all(DeviceMemory& b, int index, const Streams& streams) {
  if (streams.others.empty()) return streams.home;
  if (!b.pool) {  // memory is used again on its own stream, which has to wait for the others
    for (const OnStream& other : streams.others) order(other, {index, streams.home});
    return streams.home;
  }
  if (!b.freeing)
    check(cudaStreamCreateWithPriority(&b.freeing, cudaStreamNonBlocking, 0), "release");
  order({index, streams.home}, {index, b.freeing});
  for (const OnStream& other : streams.others) order(other, {index, b.freeing});
  return b.freeing;
}

// Gives up what is only kept.
void trim(DeviceMemory& b) {
  check(cudaDeviceSynchronize(), "allocation");
  if (b.pool) check(cudaMemPoolTrimTo(b.pool, 0), "allocation");
  b.cache.release_kept();
}

cudaStream_t stream_on(int index) { return current().device == index ? current().stream : nullptr; }

}  // namespace

void* allocate(int index, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const OnDevice there(index);
  DeviceMemory& b = memory_of(index);
  const std::lock_guard lock(b.mutex);
  const cudaStream_t stream = stream_on(index);
  void* block = nullptr;
  if (bytes < std::size_t(INT64_MAX) - kBlock &&
      std::int64_t(bytes) <= b.stats.limit - allocated(b)) {
    block = take(b, bytes, stream);
    if (!block) {
      ++b.stats.retries;
      trim(b);
      block = take(b, bytes, stream);
    }
  }
  if (!block) {
    ++b.stats.out_of_memory;
    return nullptr;
  }
  if (stream) b.streams[block].home = stream;
  count_block(b, std::int64_t(bytes), 1);
  read_reserved(b);
  return block;
}

void release(int index, void* block, std::size_t bytes) noexcept {
  if (is_forked_child()) return;
  try {
    const OnDevice there(index);
    DeviceMemory& b = memory_of(index);
    const std::lock_guard lock(b.mutex);
    count_block(b, std::int64_t(bytes), -1);
    const auto found = b.streams.find(block);
    give(b, block, bytes, found == b.streams.end() ? nullptr : after_all(b, index, found->second));
    if (found != b.streams.end()) b.streams.erase(found);
  } catch (...) {  // the device is lost, and its memory with it
  }
}

void record_stream(int index, void* block, int stream_index, StreamId id) {
  const OnStream stream{stream_index, reinterpret_cast<cudaStream_t>(id)};
  DeviceMemory& b = memory_of(index);
  const std::lock_guard lock(b.mutex);
  Streams& streams = b.streams[block];
  if (stream == OnStream{index, streams.home}) return;
  if (std::ranges::find(streams.others, stream) == streams.others.end())
    streams.others.push_back(stream);
}

void* try_scratch(std::size_t bytes) { return allocate(current().device, bytes); }
void* take_scratch(std::size_t bytes, const char* op) {
  void* block = try_scratch(bytes);
  if (block || bytes == 0) return block;
  const std::string words = "CUDA out of memory. Tried to allocate " + std::to_string(bytes) +
                            " bytes on GPU " + std::to_string(current().device) +
                            ", to be used during " + op +
                            "\nfree some of it: delete tensors that are no longer needed, or use a "
                            "smaller batch";
  throw DeviceError(DeviceError::Kind::memory, words.c_str());
}
void give_scratch(void* block, std::size_t bytes) noexcept {
  if (block) release(current().device, block, bytes);
}

void memory_info(int index, std::int64_t* free, std::int64_t* total) {
  const OnDevice there(index);
  std::size_t f = 0, t = 0;
  check(cudaMemGetInfo(&f, &t), "mem_get_info");
  *free = std::int64_t(f);
  *total = std::int64_t(t);
}

void memory_stats(int index, MemoryStats* out) {
  DeviceMemory& b = memory_of(index);
  const std::lock_guard lock(b.mutex);
  read_reserved(b);
  *out = b.stats;
}

void reset_memory_stats(int index, bool peaks) {
  DeviceMemory& b = memory_of(index);
  const std::lock_guard lock(b.mutex);
  for (auto& row : b.stats.figures)
    for (MemoryFigure& f : row) {
      if (peaks)
        f.peak = f.current;
      else
        f.allocated = f.freed = 0;
    }
  if (!peaks) b.stats.retries = b.stats.out_of_memory = 0;
}

void limit_memory(int index, std::int64_t bytes) {
  DeviceMemory& b = memory_of(index);
  const std::lock_guard lock(b.mutex);
  b.stats.limit = bytes;
}

void empty_cache() {
  for (int i = 0; i < device_count(); ++i) {
    DeviceMemory& b = all_memory()[i];
    const std::lock_guard lock(b.mutex);
    if (!b.pool && b.cache.reserved() == 0) continue;
    const OnDevice there(i);
    trim(b);
  }
  release_idle_pinned();
}

bool keeps_memory() {
  static const bool yes = [] {
    const char* text = std::getenv("RUSHLIGHT_NO_CACHE");
    return !text || !*text || *text == '0';
  }();
  return yes;
}

const char* memory_source(int index) {
  if (!keeps_memory()) return "cudaMalloc for each tensor (RUSHLIGHT_NO_CACHE)";
  const OnDevice there(index);
  return memory_of(index).has_pools
             ? nullptr
             : "cudaMalloc, kept in a cache of our own: the driver has no memory pools here";
}

bool can_access_peer(int from, int to) {
  int can = 0;
  if (from != to && cudaDeviceCanAccessPeer(&can, from, to) != cudaSuccess) cudaGetLastError();
  return can != 0;
}

}  // namespace rushlight::gpu
