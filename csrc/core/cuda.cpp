// The thread's current device and streams, first use, forks, and out of memory.
#include "core/cuda.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <vector>

#include "core/error.h"

namespace rushlight {
namespace {

std::atomic<const Backend*> ready{nullptr};  // the provider in use
std::atomic<bool> driver_used{false};  // it has been queried, which a forked child may not do
std::atomic<bool> forked{false};
std::atomic<std::uint32_t> epoch{0};  // counts changes of the provider
std::mutex search;

struct Current {  // of a thread
  std::uint32_t epoch = 0;
  int device = 0;
  std::vector<StreamId> streams;
};
Current& current() {
  static thread_local Current here;
  if (here.epoch != epoch) here = {epoch, 0, {}};
  return here;
}

// The provider, or null and why; only a provider that was found is cached. A child that is forked
// from now on may not use it: a query of the driver suffices for that.
const Backend* search_cuda(std::string* why_not) {
  if (const Backend* table = ready) return table;
  static const int registered = pthread_atfork([] { search.lock(); }, [] { search.unlock(); },
                                               [] {
                                                 if (driver_used || ready.load()) forked = true;
                                                 ready = nullptr;
                                                 search.unlock();
                                               });
  (void)registered;
  std::lock_guard lock(search);
  CudaProvider found = find_cuda();
  if (found.table && found.table->enter) driver_used = true;  // virtual GPUs have no driver
  if (found.table && found.table->runtime->device_count() == 0)
    found = {nullptr, "No CUDA GPUs are available\nno device: CUDA_VISIBLE_DEVICES hides them all"};
  if (why_not) *why_not = std::move(found.why_not);
  return found.table;
}

std::string size_text(std::int64_t bytes) {
  char s[32];
  const double n = double(bytes);
  if (bytes <= 1024)
    std::snprintf(s, sizeof s, "%lld bytes", static_cast<long long>(bytes));
  else if (bytes <= 1 << 20)
    std::snprintf(s, sizeof s, "%.2f KiB", n / 1024);
  else if (bytes <= 1 << 30)
    std::snprintf(s, sizeof s, "%.2f MiB", n / (1 << 20));
  else
    std::snprintf(s, sizeof s, "%.2f GiB", n / (1 << 30));
  return s;
}

}  // namespace

MathSwitches math_switches;
ProviderHost provider_host{&math_switches, nullptr};

int cuda_device_count() {
  const Backend* table = search_cuda(nullptr);
  return table ? table->runtime->device_count() : 0;
}

std::string cuda_why_not() {
  std::string why_not;
  search_cuda(&why_not);
  return why_not;
}

bool cuda_is_initialized() { return ready.load() && !forked; }
bool cuda_forked() { return forked; }

void forget_cuda() {
  ready = nullptr;
  driver_used = forked = false;
  ++epoch;
}

const Backend& cuda_backend() {
  if (const Backend* table = ready.load(std::memory_order_acquire)) [[likely]]
    return *table;
  if (forked)
    fail<RuntimeError>(
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
        "must use the 'spawn' start method\nfor example multiprocessing.get_context('spawn'), or "
        "DataLoader(..., multiprocessing_context='spawn')");
  std::string why_not;
  const Backend* table = search_cuda(&why_not);
  if (!table) {
    if (why_not.starts_with("Torch")) fail<AssertionError>(why_not);
    fail<RuntimeError>(why_not);
  }
  ready.store(table, std::memory_order_release);
  return *table;
}

bool cuda_is_alive(std::uint32_t generation) {
  if (forked) cuda_backend();  // raises
  const Backend* table = search_cuda(nullptr);
  return table && table->runtime->generation(0) == generation;
}

void check_cuda_index(int index) {
  const int count = cuda_backend().runtime->device_count();
  if (index >= 0 && index < count) return;
  fail<AcceleratorError>(
      "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough "
      "GPUs?\ncuda:",
      index, " was asked for, and there ", count == 1 ? "is " : "are ", count,
      " visible: ", count ? "cuda:0" : "none", count > 1 ? text(" to cuda:", count - 1) : "");
}

int current_cuda_device() { return current().device; }

void set_current_cuda_device(int index) {
  check_cuda_index(index);
  current().device = index;
}

StreamId current_stream(int index) {
  const auto& streams = current().streams;
  return std::size_t(index) < streams.size() ? streams[std::size_t(index)] : 0;
}

void set_current_stream(int index, StreamId stream) {
  check_cuda_index(index);
  auto& streams = current().streams;
  if (streams.size() <= std::size_t(index)) streams.resize(std::size_t(index) + 1);
  streams[std::size_t(index)] = stream;
}

void* allocate_cuda(int index, std::size_t bytes) {
  const Backend& b = cuda_backend();
  void* block = b.allocate(index, bytes);
  if (block || bytes == 0) [[likely]]
    return block;
  std::int64_t free = 0, total = 0;
  MemoryStats stats;
  b.runtime->memory_info(index, &free, &total);
  b.runtime->memory_stats(index, &stats);
  const auto& allocated = stats.figures[MemoryStats::allocated_bytes][MemoryStats::all];
  const auto& reserved = stats.figures[MemoryStats::reserved_bytes][MemoryStats::all];
  fail<OutOfMemoryError>(
      "CUDA out of memory. Tried to allocate ", size_text(std::int64_t(bytes)), ". GPU ", index,
      " has a total capacity of ", size_text(total), " of which ", size_text(free),
      " is free. Including non-PyTorch memory, this process has ", size_text(total - free),
      " memory in use. Of the allocated memory ", size_text(allocated.current),
      " is allocated by PyTorch, and ", size_text(reserved.current - allocated.current),
      " is reserved by PyTorch but unallocated.\nfree some of it: delete tensors that are no "
      "longer "
      "needed, use a smaller batch, or run under torch.no_grad() where no gradient is wanted");
}

}  // namespace rushlight
