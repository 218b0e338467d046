// Small-block memory and intrusive references: what makes a tensor cheap to make and to free.
// Note: a block may be freed on another thread than the one that took it; lists are
// per thread and bounded, so blocks then simply migrate.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace rushlight {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Blocks beyond the small classes: cached in a bounded, process-wide list, on huge pages from 2 MiB
// on (fresh pages are touched at 2.4 GB/s, kept ones are written at 40). Throws std::bad_alloc; a
// size above the machine's memory is refused at once.
void* take_large(std::size_t bytes);
void give_large(void* block, std::size_t bytes) noexcept;
// RUSHLIGHT_NO_CACHE=1, or a build with AddressSanitizer (unless it is 0): every block has its own
// true bounds.
bool cache_is_off() noexcept;

// Free lists of 64 B, 128 B, ... 64 KiB blocks.
class BlockCache {
 public:
  static void* take(std::size_t bytes) {
    const int c = size_class(bytes);
    if (c < kClasses) [[likely]] {
      List& list = lists_[c];
      if (list.head) [[likely]] {
        --list.count;
        return std::exchange(list.head, *static_cast<void**>(list.head));
      }
      return fresh(bytes, std::size_t(64) << c);
    }
    return take_large(bytes);
  }
  static void give(void* block, std::size_t bytes) noexcept {
    const int c = size_class(bytes);
    if (c < kClasses && lists_[c].count < keep_) [[likely]] {
      *static_cast<void**>(block) = lists_[c].head;
      lists_[c].head = block;
      ++lists_[c].count;
    } else if (c < kClasses) {
      std::free(block);
    } else {
      give_large(block, bytes);
    }
  }

 private:
  static constexpr int kClasses = 11;
  struct List {
    void* head;
    int count;
  };
  static int size_class(std::size_t bytes) {
    return bytes <= 64 ? 0 : int(std::bit_width(bytes - 1)) - 6;
  }
  static void* fresh(std::size_t bytes, std::size_t rounded);
  // Trivial type and initial-exec: an access is one instruction (a thread_local with a destructor,
  // or the default model of a shared library, costs a call each time: measured 2-3 ns).
  [[gnu::tls_model("initial-exec")]] static inline thread_local List lists_[kClasses];
  // Blocks kept per class: 256 in a thread that has taken one, whose end gives them back; 0 in one
  // that only gives, and where the cache is off.
  [[gnu::tls_model("initial-exec")]] static inline thread_local int keep_;
  friend struct Reaper;
};

// Base of everything reference-counted. Starts with one reference. `release` says whether it was
// the last: a holder of the only reference needs no locked instruction, as no other thread can
// make a second one.
struct Shared {
  void retain() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool release() noexcept {
    return refs_.load(std::memory_order_acquire) == 1 ||
           refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool is_unique() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }
  int use_count() const noexcept { return refs_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int32_t> refs_{1};
};

// Intrusive pointer; T provides retain(), release() and a free function destroy(T*).
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {  // shares: what pybind11 requires of a holder
    if (p_) p_->retain();
  }
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  static Ref share(T* p) { return Ref(p); }
  Ref(const Ref& o) noexcept : p_(o.p_) {
    if (p_) p_->retain();
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->release()) destroy(p_);
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  [[nodiscard]] T* detach() { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

}  // namespace rushlight
