// Memory: each device has a pool of the driver (cudaMallocAsync's) that keeps what is freed, up to
// the end of the process or empty_cache(). Note: a block is freed in the order of
// the stream it was taken on. RUSHLIGHT_NO_CACHE=1 gives each tensor an allocation of its own,
// poisoned when it is freed, for compute-sanitizer.
#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "devices.h"
#include "memory.h"

namespace rushlight::gpu {
namespace {

constexpr std::int64_t kBlock = 512;  // what a request is rounded up to, in the books
constexpr std::int64_t kSmall = 1 << 20;

struct Books {
  std::mutex mutex;
  std::once_flag made;
  cudaMemPool_t pool = nullptr;
  MemoryStats stats{};
  std::int64_t limit = INT64_MAX;
  std::unordered_map<void*, cudaStream_t> streams;  // of blocks taken on another than the default
};
Books* all_books() {
  static auto* all = new Books[kMostDevices];
  return all;
}

bool has_pool() {
  static const bool yes = [] {
    const char* text = std::getenv("RUSHLIGHT_NO_CACHE");
    return !text || !*text || *text == '0';
  }();
  return yes;
}

Books& books_of(int index) {
  Books& b = all_books()[index];
  std::call_once(b.made, [&] {
    if (!has_pool()) return;
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

void count(Books& b, MemoryStats::What what, std::int64_t size, std::int64_t change) {
  for (const int pool : {int(MemoryStats::all),
                         int(size <= kSmall ? MemoryStats::small_pool : MemoryStats::large_pool)}) {
    MemoryFigure& f = b.stats.figures[what][pool];
    f.current += change;
    f.peak = std::max(f.peak, f.current);
    (change > 0 ? f.allocated : f.freed) += change > 0 ? change : -change;
  }
}
void count_block(Books& b, std::int64_t requested, int sign) {
  const std::int64_t size = (requested + kBlock - 1) / kBlock * kBlock;
  for (const auto what : {MemoryStats::allocation, MemoryStats::active}) count(b, what, size, sign);
  for (const auto what : {MemoryStats::allocated_bytes, MemoryStats::active_bytes})
    count(b, what, size, sign * size);
  count(b, MemoryStats::requested_bytes, size, sign * requested);
}
std::int64_t allocated(const Books& b) {
  return b.stats.figures[MemoryStats::allocated_bytes][MemoryStats::all].current;
}

// What the pool holds, as it says itself.
void read_reserved(Books& b) {
  std::uint64_t bytes = std::uint64_t(allocated(b));
  if (b.pool)
    check(cudaMemPoolGetAttribute(b.pool, cudaMemPoolAttrReservedMemCurrent, &bytes), "memory");
  MemoryFigure& f = b.stats.figures[MemoryStats::reserved_bytes][MemoryStats::all];
  f.current = std::max(std::int64_t(bytes), allocated(b));
  f.peak = std::max(f.peak, f.current);
}

void* take(Books& b, std::size_t bytes, cudaStream_t stream) {
  void* block = nullptr;
  const cudaError_t error =
      b.pool ? cudaMallocFromPoolAsync(&block, bytes, b.pool, stream) : cudaMalloc(&block, bytes);
  if (error == cudaSuccess) return block;
  cudaGetLastError();
  if (error != cudaErrorMemoryAllocation) check(error, "allocation");
  return nullptr;
}

void give(Books& b, void* block, std::size_t bytes, cudaStream_t stream) noexcept {
  if (b.pool) {
    if (cudaFreeAsync(block, stream) != cudaSuccess) cudaGetLastError();  // at exit: all is gone
    return;
  }
  cudaMemsetAsync(block, 0xff, bytes, stream);  // a late reader reads NaN
  if (cudaFree(block) != cudaSuccess) cudaGetLastError();
}

cudaStream_t stream_on(int index) { return current().device == index ? current().stream : nullptr; }

}  // namespace

void* allocate(int index, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const OnDevice there(index);
  Books& b = books_of(index);
  const std::lock_guard lock(b.mutex);
  const cudaStream_t stream = stream_on(index);
  void* block = nullptr;
  if (bytes < std::size_t(INT64_MAX) - kBlock && std::int64_t(bytes) <= b.limit - allocated(b)) {
    block = take(b, bytes, stream);
    if (!block) {  // give up what is only kept, and try once more
      ++b.stats.retries;
      check(cudaDeviceSynchronize(), "allocation");
      if (b.pool) check(cudaMemPoolTrimTo(b.pool, 0), "allocation");
      block = take(b, bytes, stream);
    }
  }
  if (!block) {
    ++b.stats.out_of_memory;
    return nullptr;
  }
  if (stream) b.streams[block] = stream;
  count_block(b, std::int64_t(bytes), 1);
  read_reserved(b);
  return block;
}

void release(int index, void* block, std::size_t bytes) noexcept {
  try {
    const OnDevice there(index);
    Books& b = books_of(index);
    const std::lock_guard lock(b.mutex);
    const auto found = b.streams.find(block);
    give(b, block, bytes, found == b.streams.end() ? nullptr : found->second);
    if (found != b.streams.end()) b.streams.erase(found);
    count_block(b, std::int64_t(bytes), -1);
  } catch (...) {  // the device is lost, and its memory with it
  }
}

void* take_scratch(std::size_t bytes, const char* op) {
  Books& b = books_of(current().device);
  void* block = take(b, std::max<std::size_t>(bytes, 1), current().stream);
  if (!block) check(cudaErrorMemoryAllocation, op);
  return block;
}
void give_scratch(void* block) noexcept {
  Books& b = all_books()[current().device];
  if (!b.pool) cudaStreamSynchronize(current().stream);
  give(b, block, 0, current().stream);
}

void memory_info(int index, std::int64_t* free, std::int64_t* total) {
  const OnDevice there(index);
  std::size_t f = 0, t = 0;
  check(cudaMemGetInfo(&f, &t), "mem_get_info");
  *free = std::int64_t(f);
  *total = std::int64_t(t);
}

void memory_stats(int index, MemoryStats* out) {
  Books& b = books_of(index);
  const std::lock_guard lock(b.mutex);
  read_reserved(b);
  *out = b.stats;
}

void reset_memory_stats(int index, bool peaks) {
  Books& b = books_of(index);
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
  Books& b = books_of(index);
  const std::lock_guard lock(b.mutex);
  b.limit = bytes;
}

void empty_cache() {
  for (int i = 0; i < device_count(); ++i) {
    Books& b = all_books()[i];
    if (!b.pool) continue;
    const OnDevice there(i);
    check(cudaDeviceSynchronize(), "empty_cache");
    check(cudaMemPoolTrimTo(b.pool, 0), "empty_cache");
  }
}

bool can_access_peer(int from, int to) {
  int can = 0;
  if (from != to && cudaDeviceCanAccessPeer(&can, from, to) != cudaSuccess) cudaGetLastError();
  return can != 0;
}

}  // namespace rushlight::gpu
