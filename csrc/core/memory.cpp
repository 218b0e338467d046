// The slow paths of CPU memory: fresh small blocks, and the process-wide cache of large ones.
#include "core/memory.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace rushlight {

bool cache_is_off() noexcept {
  static const bool off = [] {
    const char* value = std::getenv("RUSHLIGHT_NO_CACHE");
    return value && *value ? *value != '0' : kSanitized;
  }();
  return off;
}

struct Reaper {  // gives the lists back when its thread ends
  Reaper() { BlockCache::keep_ = cache_is_off() ? 0 : 256; }
  ~Reaper() {
    BlockCache::keep_ = 0;
    for (BlockCache::List& list : BlockCache::lists_)
      for (; list.head; --list.count)
        std::free(std::exchange(list.head, *static_cast<void**>(list.head)));
  }
};

static void* allocate(std::size_t bytes) {
  static const std::size_t machine =
      std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  if (bytes > machine) throw std::bad_alloc();
  void* block = nullptr;
  if (posix_memalign(&block, 64, bytes)) throw std::bad_alloc();
  return block;
}

[[gnu::noinline]] void* BlockCache::fresh(std::size_t bytes, std::size_t rounded) {
  static thread_local const Reaper reaper;
  static_cast<void>(&reaper);
  return allocate(cache_is_off() ? bytes : rounded);
}

namespace {

constexpr std::size_t kHugePage = std::size_t(2) << 20;

// Elements are rounded up to an eighth of their power of two, so that a block serves nearby sizes.
// A storage's header comes on top: of 8 MiB and a header not a whole huge page more is used.
constexpr std::size_t kHeader = 64, kPage = 4096;
std::size_t rounded(std::size_t bytes) {
  const std::size_t elements = bytes - kHeader;
  const std::size_t step = std::max(std::bit_floor(elements) / 8, kPage);
  return (elements + step - 1) / step * step + kPage;
}

// Keeps blocks that were given back, for the next of their size. What one model left must not stay
// beside what the next one needs: before fresh memory is mapped, the sizes longest unused are given
// up, until all blocks together are near the most that were ever in use at once. A block that is
// soon missed again was of use, and the cache may hold as much more: the sizes of a training step
// come again and again, and soon none is mapped.
class LargeCache {
 public:
  LargeCache() {
    const std::size_t machine =
        std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
    limit_ = std::min(machine / 8, std::size_t(2) << 30);
  }
  void* take(std::size_t bytes) {
    const std::size_t size = rounded(bytes);
    {
      std::lock_guard lock(mutex_);
      Blocks& own = sizes_[size];
      own.last_take = ++takes_;
      used_ += size;
      most_used_ = std::max(most_used_, used_);
      if (void* block = pop(own, size)) return block;
      if (own.given_up) {
        --own.given_up;
        if (own.given_up_at + kSoon > takes_) extra_ += size;
      }
      make_room();
    }
    try {
      return map(size);
    } catch (const std::bad_alloc&) {
      clear();
    }
    try {
      return map(size);
    } catch (const std::bad_alloc&) {
      std::lock_guard lock(mutex_);
      used_ -= size;
      throw;
    }
  }
  void give(void* block, std::size_t bytes) noexcept {
    const std::size_t size = rounded(bytes);
    {
      std::lock_guard lock(mutex_);
      used_ -= size;
      if (kept_ + size <= limit_) {
        try {
          sizes_[size].free.push_back(block);
          kept_ += size;
          return;
        } catch (const std::bad_alloc&) {  // then it is freed below
        }
      }
    }
    std::free(block);
  }
  void clear() noexcept {
    std::lock_guard lock(mutex_);
    for (auto& [size, own] : sizes_)
      while (void* block = pop(own, size)) std::free(block);
  }
  std::mutex mutex_;

 private:
  struct Blocks {  // of one size
    std::vector<void*> free;
    std::uint64_t last_take = 0;
    std::uint64_t given_up = 0, given_up_at = 0;  // how many blocks, and when the last
  };

  static constexpr std::uint64_t kSoon = 1024;  // calls of take(): a training step or more

  void* pop(Blocks& own, std::size_t size) noexcept {
    if (own.free.empty()) return nullptr;
    void* const block = own.free.back();
    own.free.pop_back();
    kept_ -= size;
    return block;
  }
  // For a block that is counted as used already.
  void make_room() noexcept {
    while (kept_ && used_ + kept_ > most_used_ + most_used_ / 4 + extra_) {
      std::pair<const std::size_t, Blocks>* oldest = nullptr;
      for (auto& entry : sizes_)
        if (!entry.second.free.empty() &&
            (!oldest || entry.second.last_take < oldest->second.last_take))
          oldest = &entry;
      if (!oldest) return;
      ++oldest->second.given_up;
      oldest->second.given_up_at = takes_;
      std::free(pop(oldest->second, oldest->first));
    }
  }
  static void* map(std::size_t size) {
    if (size < kHugePage) return allocate(size);
    const std::size_t machine =
        std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
    if (size > machine) throw std::bad_alloc();
    void* block = nullptr;
    if (posix_memalign(&block, kHugePage, size)) throw std::bad_alloc();
    madvise(block, size / kHugePage * kHugePage, MADV_HUGEPAGE);
    return block;
  }
  std::unordered_map<std::size_t, Blocks> sizes_;
  std::uint64_t takes_ = 0;
  std::size_t kept_ = 0, used_ = 0, most_used_ = 0, limit_ = 0;
  std::size_t extra_ = 0;  // bytes that were given up and missed
};

LargeCache& large() {
  // Never destroyed: tensors may outlive static destruction at interpreter exit.
  static LargeCache* cache = [] {
    auto* c = new LargeCache;
    pthread_atfork([] { large().mutex_.lock(); }, [] { large().mutex_.unlock(); },
                   [] { large().mutex_.unlock(); });
    return c;
  }();
  return *cache;
}

}  // namespace

void* take_large(std::size_t bytes) {
  return cache_is_off() ? allocate(bytes) : large().take(bytes);
}
void give_large(void* block, std::size_t bytes) noexcept {
  if (cache_is_off())
    std::free(block);
  else
    large().give(block, bytes);
}

}  // namespace rushlight
