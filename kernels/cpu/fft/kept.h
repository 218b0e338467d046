// What was computed for a length, kept for later calls: the last ones used, up to so many bytes.
// Note: where the lock is not to be had, a call goes without; so a child forked meanwhile, in which
// nobody opens it again, computes each time and does not hang.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

namespace rushlight::fft {

template <class V>
class Kept {
 public:
  // The value for n: that of before, or made(n).
  template <class F, class Bytes>
  std::shared_ptr<const V> get(std::int64_t n, F&& made, Bytes&& bytes_of) {
    if (auto found = find(n)) return found;
    std::shared_ptr<const V> value = made(n);  // not under the lock: it may take long
    const std::size_t size = bytes_of(*value);
    if (size <= kBytes) keep({n, size, value});
    return value;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t(64) << 20, kEntries = 64;
  struct Entry {
    std::int64_t n;
    std::size_t size;
    std::shared_ptr<const V> value;
  };
  std::unique_lock<std::mutex> locked() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int i = 0; i < 1000 && !lock; ++i) lock.try_lock();
    return lock;
  }
  std::shared_ptr<const V> find(std::int64_t n) {
    const auto lock = locked();
    if (!lock) return nullptr;
    for (auto at = entries_.begin(); at != entries_.end(); ++at)
      if (at->n == n) {
        entries_.splice(entries_.begin(), entries_, at);
        return at->value;
      }
    return nullptr;
  }
  void keep(Entry entry) {
    const auto lock = locked();
    if (!lock) return;
    bytes_ += entry.size;
    entries_.push_front(std::move(entry));
    while (bytes_ > kBytes || entries_.size() > kEntries) {
      bytes_ -= entries_.back().size;
      entries_.pop_back();
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last one used first
  std::size_t bytes_ = 0;
};

}  // namespace rushlight::fft
