// The pool behind kernels/parallel.h. Note: a pool is made at the first use, never
// destroyed, and abandoned whole in a forked child, so nothing here may be held across a fork; a
// worker joins a job only while it is open, so a slow wake-up never delays the caller.
#include "../parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "../signals.h"

namespace rushlight {

void (*poll_interrupt)() = nullptr;

namespace {

using Clock = std::chrono::steady_clock;
using RangeFunction = FunctionRef<void(std::int64_t, std::int64_t)>;

constexpr int kMaxThreads = 256;
// Longer starves others on a busy machine; but a virtual machine takes 50 us to wake a thread, so
// while jobs follow one another soon it looks for the next one between others' turns.
constexpr auto kSpin = std::chrono::microseconds(15), kLongSpin = std::chrono::microseconds(200);
constexpr auto kSoon = std::chrono::milliseconds(1);
constexpr auto kPollEvery = std::chrono::milliseconds(10);
constexpr auto kLongChunk = std::chrono::milliseconds(4);
constexpr auto kShortChunk = std::chrono::microseconds(500);

thread_local int current_number = 0;
thread_local bool inside = false;
thread_local Clock::time_point last_poll, last_work;

// Calls count as one stretch of work unless the thread did something else for a while between them.
void poll_in_time(Clock::time_point now) {
  if (now - last_work > 5 * kPollEvery) last_poll = now;
  last_work = now;
  if (now - last_poll < kPollEvery) return;
  last_poll = now;
  if (poll_interrupt) poll_interrupt();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns once `word` differs from `old`: spins for a moment, then leaves the processor to others
// who want it, for the rest of `spin`, then sleeps.
std::uint32_t wait_until_changed(const std::atomic<std::uint32_t>& word, std::uint32_t old,
                                 std::chrono::microseconds spin) {
  const auto start = Clock::now();
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old) return now;
      pause();
    }
    const auto past = Clock::now() - start;
    if (past > spin) break;
    if (past > kSpin) sched_yield();
  }
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

// Work of one parallel_for. Chunks are whole grains; each thread doubles its own while they are
// short and halves it while they are long, so that polling happens in time whatever an item costs.
class Job {
 public:
  Job(std::int64_t n, std::int64_t grain, int threads, RangeFunction f)
      : n_(n), grain_(grain), threads_(threads), f_(f) {}

  void run(bool polls) {
    std::int64_t chunk = grain_;
    auto start = Clock::now();
    if (polls) poll_in_time(start);
    while (!is_stopped()) {
      const std::int64_t left = n_ - next_.load(std::memory_order_relaxed);
      if (left <= 0) return;
      const std::int64_t share = threads_ == 1 ? left : left / (2 * threads_);
      const std::int64_t size = std::max(grain_, std::min(chunk, share - share % grain_));
      const std::int64_t begin = next_.fetch_add(size, std::memory_order_relaxed);
      if (begin >= n_) return;
      f_(begin, begin + std::min(size, n_ - begin));
      const auto now = Clock::now();
      if (now - start < kShortChunk && chunk <= n_ / 2) chunk *= 2;
      if (now - start > kLongChunk && chunk >= 2 * grain_) chunk = chunk / 2 / grain_ * grain_;
      start = now;
      if (polls) {
        last_work = now;
        poll_in_time(now);
      }
    }
  }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool is_stopped() const { return stop_.load(std::memory_order_relaxed); }

 private:
  const std::int64_t n_, grain_;
  const int threads_;
  const RangeFunction f_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
};

// Ends a worker's part in a job that has failed in another thread, whose error is the job's.
struct Stopped {};
thread_local const Job* worker_job = nullptr;

class Pool;
std::atomic<Pool*> pool{nullptr};

class Pool {
 public:
  // The right to run a job; a thread that does not get it runs its work alone.
  bool acquire() { return !busy_.exchange(true, std::memory_order_acquire); }
  void release() { busy_.store(false, std::memory_order_release); }

  void run(Job& job, int workers) {
    workers = grow(workers);
    job_ = &job;
    error_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    state_.store(kOpen, std::memory_order_release);
    keep_off_this_cpu(workers);
    for (int i = 0; i < workers; ++i) {
      workers_[i].ticket.fetch_add(1, std::memory_order_release);
      workers_[i].ticket.notify_one();
    }
    take_part(job, true);
    if (pool.load() != this)  // poll_interrupt ran a signal handler that forked
      throw std::runtime_error("a forked child cannot finish the parallel work of its parent");
    std::uint32_t left = state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while (left != 0) left = wait_until_changed(state_, left, kLongSpin);
  }
  std::exception_ptr error() { return std::exchange(error_, nullptr); }

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;  // the low bits count the workers inside
  struct alignas(64) Worker {
    std::atomic<std::uint32_t> ticket{0};
    pthread_t thread;
    int kept_off = -1;
  };

  // A woken worker is scheduled on its waker's processor, where it waits until the caller has done
  // all the work itself (measured: on a virtual machine whose two processors share no cache, two
  // threads gained nothing). So the workers may run anywhere but there.
  void keep_off_this_cpu(int workers) {
    const int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
    cpu_set_t allowed;
    bool known = false;
    for (int i = 0; i < workers; ++i) {
      if (workers_[i].kept_off == cpu) continue;
      workers_[i].kept_off = cpu;
      if (!known) {
        if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
        CPU_CLR(cpu, &allowed);
        if (CPU_COUNT(&allowed) == 0) return;
        known = true;
      }
      pthread_setaffinity_np(workers_[i].thread, sizeof allowed, &allowed);
    }
  }

  int grow(int wanted) {
    if (started_ >= wanted) return wanted;
    const SignalsBlocked blocked;
    try {
      for (; started_ < wanted; ++started_) {
        std::thread worker(&Pool::work, this, started_);
        workers_[started_].thread = worker.native_handle();
        worker.detach();
      }
    } catch (const std::system_error&) {  // fewer threads do the same work
    }
    return std::min(started_, wanted);
  }

  void take_part(Job& job, bool polls) {
    try {
      job.run(polls);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
      job.stop();
    }
  }

  void work(int index) {
    current_number = index + 1;
    inside = true;
    std::uint32_t seen = 0;
    std::chrono::microseconds spin = kSpin;
    for (;;) {
      const auto idle_from = Clock::now();
      seen = wait_until_changed(workers_[index].ticket, seen, spin);
      spin = Clock::now() - idle_from < kSoon ? kLongSpin : kSpin;
      std::uint32_t state = state_.load(std::memory_order_acquire);
      while (state & kOpen) {
        if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) continue;
        worker_job = job_;
        take_part(*job_, false);
        if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_one();
        break;
      }
    }
  }

  Worker workers_[kMaxThreads];
  int started_ = 0;
  Job* job_ = nullptr;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false}, busy_{false};
  std::atomic<std::uint32_t> state_{0};
};

std::atomic<int> wanted_threads{0};

// A child has none of its parent's threads, and the parent's pool may have been caught in the
// middle of a job: leave it and start afresh.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr); });

Pool* the_pool() {
  Pool* p = pool.load(std::memory_order_acquire);
  if (p) return p;
  auto fresh = std::make_unique<Pool>();
  if (pool.compare_exchange_strong(p, fresh.get())) return fresh.release();
  return p;
}

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const long n = std::strtol(text, nullptr, 10);
    if (n > 0) return int(std::min<long>(n, kMaxThreads));
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  return std::clamp(int(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

}  // namespace

int num_threads() {
  int n = wanted_threads.load(std::memory_order_relaxed);
  if (n == 0) wanted_threads.store(n = default_threads(), std::memory_order_relaxed);
  return n;
}

void set_num_threads(int n) { wanted_threads.store(std::clamp(n, 1, kMaxThreads)); }

int thread_number() { return current_number; }

void check_interrupt() {
  if (current_number != 0) {
    if (worker_job->is_stopped()) throw Stopped();
    return;
  }
  last_work = Clock::now();
  poll_in_time(last_work);
}

void parallel_for(std::int64_t n, std::int64_t grain, RangeFunction f) {
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (n <= grain) return f(0, n);
  const bool worker = current_number > 0;
  const std::int64_t chunks = (n - 1) / grain + 1;
  const int threads = inside ? 1 : int(std::min<std::int64_t>(num_threads(), chunks));
  Pool* p = threads > 1 ? the_pool() : nullptr;
  if (!p || !p->acquire()) return Job(n, grain, 1, f).run(!worker);
  struct Inside {
    Pool* pool;
    explicit Inside(Pool* p) : pool(p) { inside = true; }
    ~Inside() {
      inside = false;
      pool->release();
    }
  } guard(p);
  Job job(n, grain, threads, f);
  p->run(job, threads - 1);
  if (std::exception_ptr error = p->error()) std::rethrow_exception(error);
}

}  // namespace rushlight
