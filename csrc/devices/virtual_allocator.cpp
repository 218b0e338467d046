// Torch's rules for sizes, pools, splitting and merging.
#include "devices/virtual_allocator.h"

#include <algorithm>

namespace rushlight {
namespace {

constexpr std::int64_t kBlock = 512;
constexpr std::int64_t kSmallest = kMiB;             // up to here: the small pool
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kLargeSegment = 20 * kMiB;    // for sizes below 10 MiB
constexpr std::int64_t kOwnSegment = 10 * kMiB;      // from here on: a segment of its own
constexpr std::int64_t kSegmentStep = 2 * kMiB;

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

std::int64_t segment_size(std::int64_t size) {
  if (size <= kSmallest) return kSmallSegment;
  if (size < kOwnSegment) return kLargeSegment;
  return round_up(size, kSegmentStep);
}

void add(MemoryFigure& figure, std::int64_t change) {
  figure.current += change;
  figure.peak = std::max(figure.peak, figure.current);
  (change > 0 ? figure.allocated : figure.freed) += change > 0 ? change : -change;
}

}  // namespace

VirtualAllocator::~VirtualAllocator() {
  for (Pool& pool : free_)
    for (Block* block : pool) delete block;
}

void VirtualAllocator::count(MemoryStats::What what, bool small, std::int64_t change) {
  add(stats_.figures[what][MemoryStats::all], change);
  add(stats_.figures[what][small ? MemoryStats::small_pool : MemoryStats::large_pool], change);
}

VirtualAllocator::Block* VirtualAllocator::find(std::int64_t size, bool small) {
  Block wanted{.address = 0, .size = size, .small = small};
  Pool& pool = free_[small];
  const auto found = pool.lower_bound(&wanted);
  if (found == pool.end()) return nullptr;
  Block* block = *found;
  pool.erase(found);
  if (block->is_split()) {
    count(MemoryStats::inactive_split, small, -1);
    count(MemoryStats::inactive_split_bytes, small, -block->size);
  }
  return block;
}

VirtualAllocator::Block* VirtualAllocator::reserve(std::int64_t size, bool small) {
  const std::int64_t bytes = segment_size(size);
  const auto& reserved = stats_.figures[MemoryStats::reserved_bytes][MemoryStats::all];
  if (bytes > std::min(capacity_, stats_.limit) - reserved.current) return nullptr;
  count(MemoryStats::segment, small, 1);
  count(MemoryStats::reserved_bytes, small, bytes);
  ++stats_.device_allocations;
  auto* block = new Block{.address = next_address_, .size = bytes, .small = small};
  next_address_ += bytes;
  segments_[block->address] = block;
  return block;
}

VirtualAllocator::Block* VirtualAllocator::take(std::int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > capacity_) {  // also keeps the rounding below from overflowing
    ++stats_.out_of_memory;
    return nullptr;
  }
  const std::int64_t size = std::max(kBlock, round_up(bytes, kBlock));
  const bool small = size <= kSmallest;
  Block* block = find(size, small);
  if (!block) block = reserve(size, small);
  if (!block) {
    ++stats_.retries;
    give_back_segments();
    block = reserve(size, small);
  }
  if (!block) {
    ++stats_.out_of_memory;
    return nullptr;
  }
  const std::int64_t rest = block->size - size;
  if (small ? rest >= kBlock : rest > kSmallest) {
    auto* remaining = new Block{.address = block->address + size, .size = rest, .small = small};
    remaining->before = block;
    remaining->after = block->after;
    if (block->after) block->after->before = remaining;
    block->after = remaining;
    block->size = size;
    free_[small].insert(remaining);
    count(MemoryStats::inactive_split, small, 1);
    count(MemoryStats::inactive_split_bytes, small, rest);
  }
  block->taken = true;
  block->requested = bytes;
  for (const auto what : {MemoryStats::allocation, MemoryStats::active}) count(what, small, 1);
  for (const auto what : {MemoryStats::allocated_bytes, MemoryStats::active_bytes})
    count(what, small, block->size);
  count(MemoryStats::requested_bytes, small, bytes);
  return block;
}

// `into` grows over a free neighbour, which ceases to be.
void VirtualAllocator::merge(Block* into, Block* neighbour) {
  if (!neighbour || neighbour->taken) return;
  free_[neighbour->small].erase(neighbour);
  count(MemoryStats::inactive_split, into->small, -1);
  count(MemoryStats::inactive_split_bytes, into->small, -neighbour->size);
  if (neighbour == into->before) {
    into->address = neighbour->address;
    into->before = neighbour->before;
    (into->before ? into->before->after : segments_[into->address]) = into;
  } else {
    into->after = neighbour->after;
    if (into->after) into->after->before = into;
  }
  into->size += neighbour->size;
  delete neighbour;
}

void VirtualAllocator::give(Block* block) {
  std::lock_guard lock(mutex_);
  const bool small = block->small;
  for (const auto what : {MemoryStats::allocation, MemoryStats::active}) count(what, small, -1);
  for (const auto what : {MemoryStats::allocated_bytes, MemoryStats::active_bytes})
    count(what, small, -block->size);
  count(MemoryStats::requested_bytes, small, -block->requested);
  block->taken = false;
  block->requested = 0;
  merge(block, block->before);
  merge(block, block->after);
  free_[small].insert(block);
  if (block->is_split()) {
    count(MemoryStats::inactive_split, small, 1);
    count(MemoryStats::inactive_split_bytes, small, block->size);
  }
}

void VirtualAllocator::give_back_segments() {
  for (Pool& pool : free_)
    for (auto at = pool.begin(); at != pool.end();) {
      Block* block = *at;
      if (block->is_split()) {
        ++at;
        continue;
      }
      at = pool.erase(at);
      count(MemoryStats::segment, block->small, -1);
      count(MemoryStats::reserved_bytes, block->small, -block->size);
      ++stats_.device_releases;
      segments_.erase(block->address);
      delete block;
    }
}

void VirtualAllocator::release_cache() {
  std::lock_guard lock(mutex_);
  give_back_segments();
}

void VirtualAllocator::set_limit(std::int64_t bytes) {
  std::lock_guard lock(mutex_);
  stats_.limit = bytes;
}

MemoryStats VirtualAllocator::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

VirtualAllocator::Bytes VirtualAllocator::bytes() const {
  std::lock_guard lock(mutex_);
  return {stats_.figures[MemoryStats::allocated_bytes][MemoryStats::all].current,
          stats_.figures[MemoryStats::reserved_bytes][MemoryStats::all].current};
}

std::vector<std::vector<VirtualAllocator::Block>> VirtualAllocator::segments() const {
  std::lock_guard lock(mutex_);
  std::vector<std::vector<Block>> all;
  for (const auto& [address, first] : segments_) {
    auto& blocks = all.emplace_back();
    for (const Block* block = first; block; block = block->after) blocks.push_back(*block);
  }
  return all;
}

void VirtualAllocator::reset_stats(bool peaks) {
  std::lock_guard lock(mutex_);
  for (auto& what : stats_.figures)
    for (MemoryFigure& figure : what)
      if (peaks)
        figure.peak = figure.current;
      else
        figure.allocated = figure.freed = 0;
  if (!peaks) stats_.retries = stats_.out_of_memory = 0;
}

}  // namespace rushlight
