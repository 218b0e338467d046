// The runtime calls of cuda_runtime.h by host memory, for RUSHLIGHT_EMULATED_GPUS devices (2) of
// RUSHLIGHT_EMULATED_MEMORY bytes (4 GiB). When work is done: streams.h. Of machines that differ:
// RUSHLIGHT_EMULATED_POOLS=0, RUSHLIGHT_EMULATED_PAGEABLE=1, RUSHLIGHT_EMULATED_CAPABILITY, and
// RUSHLIGHT_EMULATED_ERROR: what the first call answers.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>
#include <vector>

#include "cuda_runtime.h"

struct EmulatedPool {
  int device;
};

using emulator::refuse_in_child;

namespace {

constexpr int kMostDevices = 16;
thread_local int device_now = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::mutex allocator_mutex;
struct Block {
  std::size_t bytes;
  int device;
};
std::map<void*, Block>& blocks() {
  static auto* all = new std::map<void*, Block>;
  return *all;
}
std::size_t used[kMostDevices];
std::size_t pinnings = 0;
std::atomic<std::uint64_t> copies{0};  // and fills
bool peers[kMostDevices][kMostDevices];

std::map<const void*, std::size_t>& pinned() {
  static auto* all = new std::map<const void*, std::size_t>;
  return *all;
}
// Whether `p` lies in one of the blocks, whose sizes `bytes_of` gives.
template <class Map, class F>
bool lies_in(const Map& map, const void* p, F bytes_of) {
  const std::lock_guard lock(allocator_mutex);
  auto after = map.upper_bound(const_cast<void*>(p));
  if (after == map.begin()) return false;
  --after;
  return static_cast<const char*>(p) <
         static_cast<const char*>(after->first) + bytes_of(after->second);
}
bool is_pinned(const void* p) {
  return lies_in(pinned(), p, [](std::size_t bytes) { return bytes; });
}
bool is_on_device(const void* p) {
  return lies_in(blocks(), p, [](const Block& b) { return b.bytes; });
}

long long number(const char* name, long long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}
int device_count() {
  static const int n = int(number("RUSHLIGHT_EMULATED_GPUS", 2));
  return n < kMostDevices ? n : kMostDevices;
}
std::size_t capacity() {
  static const auto n = std::size_t(number("RUSHLIGHT_EMULATED_MEMORY", 4ll << 30));
  return n;
}
// 10 * major + minor, in RUSHLIGHT_EMULATED_CAPABILITY; or that of device 0 and of the rest, as "90
// 75".
int capability(int index) {
  static const char* text = std::getenv("RUSHLIGHT_EMULATED_CAPABILITY");
  if (!text) return 90;
  const char* rest = std::strchr(text, ' ');
  return std::atoi(index > 0 && rest ? rest : text);
}
cudaError_t failed(cudaError_t e) { return last_error = e; }
bool has_pools() {
  static const bool yes = number("RUSHLIGHT_EMULATED_POOLS", 1) != 0;
  return yes;
}
// Whether devices read the host's pageable memory themselves, so that copies from it may come late.
bool reads_pageable() {
  static const bool yes = number("RUSHLIGHT_EMULATED_PAGEABLE", 0) != 0;
  return yes;
}

// The next `refused` allocations of that many bytes and more find no memory.
std::size_t refused_bytes = 0;
int refused = 0;

cudaError_t take(void** out, std::size_t bytes, int device) {
  refuse_in_child("an allocation");
  const std::lock_guard lock(allocator_mutex);
  const bool refuses = refused > 0 && bytes >= refused_bytes;
  if (refuses) --refused;
  if (refuses || bytes > capacity() - used[device]) return failed(cudaErrorMemoryAllocation);
  void* p = ::operator new(bytes ? bytes : 1, std::align_val_t(256), std::nothrow);
  if (!p) return failed(cudaErrorMemoryAllocation);
  std::memset(p, 0xff, bytes);
  used[device] += bytes;
  blocks()[p] = {bytes, device};
  *out = p;
  return cudaSuccess;
}

bool is_block(void* p) {
  const std::lock_guard lock(allocator_mutex);
  return !p || blocks().count(p);
}
cudaError_t give_back(void* p) {
  if (!p) return cudaSuccess;
  const std::lock_guard lock(allocator_mutex);
  const auto found = blocks().find(p);
  if (found == blocks().end()) return failed(cudaErrorInvalidValue);
  used[found->second.device] -= found->second.bytes;
  std::memset(p, 0xff, found->second.bytes);
  blocks().erase(found);
  ::operator delete(p, std::align_val_t(256));
  return cudaSuccess;
}

}  // namespace

int emulator::current_device() { return device_now; }

void emulator::refuse_in_child(const char* call) {
  static bool in_child = false;
  static const int watched = pthread_atfork(nullptr, nullptr, [] { in_child = true; });
  (void)watched;
  if (!in_child) return;
  std::fprintf(stderr, "emulator: %s in a forked child\n", call);
  std::abort();
}

// So long that the host reads a note that is being written.
void emulator::pause_after_atomic(const void* p) {
  static const bool slow = std::getenv("RUSHLIGHT_EMULATED_SLOW_NOTES") != nullptr;
  if (slow && is_pinned(p)) usleep(300000);
}

// Another library in the process that changes the thread's device, and what it finds.
extern "C" __attribute__((visibility("default"))) void emulated_set_device(int index) {
  cudaSetDevice(index);
}
extern "C" __attribute__((visibility("default"))) int emulated_device() { return device_now; }
// The next `times` allocations of `bytes` and more find no memory.
extern "C" __attribute__((visibility("default"))) void emulated_refuse(std::size_t bytes,
                                                                       int times) {
  refused_bytes = bytes;
  refused = times;
}
// How often pinned memory was taken from the driver.
extern "C" __attribute__((visibility("default"))) std::size_t emulated_pinnings() {
  return pinnings;
}

// How many copies and fills the driver was called for.
extern "C" __attribute__((visibility("default"))) std::uint64_t emulated_copies() { return copies; }

// For the libraries of libraries/, which ask for it by name: how many bytes there are from `p` to
// the end of its allocation on a device, or on the current one (-1); 0 where there is none.
extern "C" __attribute__((visibility("default"))) std::size_t emulated_bytes_from(const void* p,
                                                                                  int device) {
  const std::lock_guard lock(allocator_mutex);
  auto after = blocks().upper_bound(const_cast<void*>(p));
  if (after == blocks().begin()) return 0;
  const auto& [start, block] = *--after;
  const auto offset = std::size_t(static_cast<const char*>(p) - static_cast<const char*>(start));
  const bool there = block.device == (device < 0 ? device_now : device);
  return offset < block.bytes && there ? block.bytes - offset : 0;
}

cudaError_t cudaGetDeviceCount(int* n) {
  if (const auto error = number("RUSHLIGHT_EMULATED_ERROR", 0)) return failed(cudaError_t(error));
  *n = device_count();
  return *n ? cudaSuccess : failed(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int index) {
  if (index < 0 || index >= device_count()) return failed(cudaErrorInvalidDevice);
  refuse_in_child("cudaSetDevice");
  device_now = index;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* index) {
  refuse_in_child("cudaGetDevice");
  *index = device_now;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int index) {
  *p = {};
  std::snprintf(p->name, sizeof p->name, "Emulated GPU");
  p->uuid.bytes[15] = char(index);
  p->totalGlobalMem = capacity();
  p->sharedMemPerBlock = 48 << 10;
  p->major = capability(index) / 10;
  p->minor = capability(index) % 10;
  p->multiProcessorCount = 4;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxThreadsPerBlock = 1024;
  p->warpSize = 32;
  p->regsPerMultiprocessor = 65536;
  p->l2CacheSize = 4 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int index) {
  switch (what) {
    case cudaDevAttrComputeCapabilityMajor: *value = capability(index) / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = capability(index) % 10; break;
    case cudaDevAttrPageableMemoryAccess: *value = reads_pageable(); break;
    case cudaDevAttrMemoryPoolsSupported: *value = has_pools(); break;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  emulator::wait_for_device(device_now);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) { return take(p, bytes, device_now); }
cudaError_t cudaFree(void* p) {
  refuse_in_child("cudaFree");
  emulator::wait_for_device(device_now);
  return give_back(p);
}
// What the stream had before may still use the memory, which is NaN for it from here on.
cudaError_t cudaMallocFromPoolAsync(void** p, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  const cudaError_t error = take(p, bytes, pool->device);
  if (error == cudaSuccess && emulator::is_lazy())
    emulator::put_off(stream, [at = *p, bytes] {
      if (!is_block(at)) {
        std::fputs("emulator: memory was given back before its stream came to take it\n", stderr);
        std::abort();
      }
      std::memset(at, 0xff, bytes);
    });
  return error;
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  refuse_in_child("cudaFreeAsync");
  if (!has_pools()) return failed(cudaErrorNotSupported);
  if (!is_block(p)) return failed(cudaErrorInvalidValue);
  emulator::give(stream, [p] { give_back(p); });
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  if (!has_pools()) return failed(cudaErrorNotSupported);
  *pool = new EmulatedPool{props->location.id};
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const std::lock_guard lock(allocator_mutex);
  *static_cast<std::uint64_t*>(value) = used[pool->device];
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(allocator_mutex);
  *total = capacity();
  *free = *total - used[device_now];
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  refuse_in_child("cudaHostAlloc");
  *p = ::operator new(bytes ? bytes : 1, std::align_val_t(64), std::nothrow);
  if (!*p) return failed(cudaErrorMemoryAllocation);
  const std::lock_guard lock(allocator_mutex);
  pinned()[*p] = bytes;
  ++pinnings;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* about, const void* p) {
  about->type = is_pinned(p) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  refuse_in_child("cudaFreeHost");
  {
    const std::lock_guard lock(allocator_mutex);
    pinned().erase(p);
  }
  ::operator delete(p, std::align_val_t(64));
  return cudaSuccess;
}
// Pageable memory of the host is read at once, as the driver takes a copy of it, unless devices
// read it themselves.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (!n) return cudaSuccess;
  ++copies;
  if (emulator::is_lazy() && !is_on_device(from) && !is_pinned(from) && !reads_pageable()) {
    const auto* bytes = static_cast<const char*>(from);
    emulator::put_off(stream, [to, taken = std::vector<char>(bytes, bytes + n)] {
      std::memcpy(to, taken.data(), taken.size());
    });
    return cudaSuccess;
  }
  emulator::give(stream, [=] { std::memmove(to, from, n); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t n,
                                cudaStream_t stream) {
  if (!n) return cudaSuccess;
  ++copies;
  emulator::give(stream, [=] { std::memmove(to, from, n); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t n, cudaStream_t stream) {
  if (!n) return cudaSuccess;
  ++copies;
  emulator::give(stream, [=] { std::memset(p, value, n); });
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to) {
  *can = from != to;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (peers[device_now][peer]) return failed(cudaErrorPeerAccessAlreadyEnabled);
  peers[device_now][peer] = true;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return e;
}
const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: return "an error of the emulator";
  }
}
