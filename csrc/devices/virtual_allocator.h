// The accounting of a virtual GPU's memory: torch's caching allocator without the bytes. Note:
// sizes and their order of use are torch's (512-byte blocks, 2 MiB and 20 MiB segments, best
// fit, split and merged), so memory_allocated and memory_reserved read as on a real device; the
// bytes themselves come from the host, each tensor's own, so that sanitizers see true bounds.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "kernels/runtime.h"

namespace rushlight {

inline constexpr std::int64_t kMiB = 1 << 20;

class VirtualAllocator {
 public:
  struct Block {
    std::int64_t address, size;
    std::int64_t requested = 0;
    bool small, taken = false;
    Block *before = nullptr, *after = nullptr;  // neighbours in the segment
    bool is_split() const { return before || after; }
  };

  explicit VirtualAllocator(std::int64_t capacity) : capacity_(capacity) {}
  ~VirtualAllocator();

  // Null when it does not fit, even after the cache was given back.
  Block* take(std::int64_t bytes);
  void give(Block* block);
  void release_cache();
  // A program may keep less than the device has (set_per_process_memory_fraction).
  void set_limit(std::int64_t bytes);

  MemoryStats stats() const;
  void reset_stats(bool peaks);  // peaks, or else the sums
  struct Bytes {
    std::int64_t allocated, reserved;
  };
  Bytes bytes() const;
  std::vector<std::vector<Block>> segments() const;  // the blocks of each, by address
  std::int64_t capacity() const { return capacity_; }

 private:
  struct Smaller {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  using Pool = std::set<Block*, Smaller>;

  Block* find(std::int64_t size, bool small);
  Block* reserve(std::int64_t size, bool small);
  void give_back_segments();
  void merge(Block* into, Block* neighbour);
  void count(MemoryStats::What what, bool small, std::int64_t change);

  mutable std::mutex mutex_;
  Pool free_[2];  // large, small
  std::map<std::int64_t, Block*> segments_;  // the first block of each, by its address
  MemoryStats stats_{};
  std::int64_t capacity_, next_address_ = 0;
};

}  // namespace rushlight
