// The runtime calls of cuda_runtime.h by host memory, for RUSHLIGHT_EMULATED_GPUS devices (2) of
// RUSHLIGHT_EMULATED_MEMORY bytes (4 GiB). All work is done when a call returns.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "cuda_runtime.h"

struct EmulatedEvent {
  std::chrono::steady_clock::time_point at{};
  bool timed;
};
struct EmulatedStream {};
struct EmulatedPool {
  int device;
};

namespace {

constexpr int kMostDevices = 16;
thread_local int device_now = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::mutex books;
struct Block {
  std::size_t bytes;
  int device;
};
std::map<void*, Block>& blocks() {
  static auto* all = new std::map<void*, Block>;
  return *all;
}
std::size_t used[kMostDevices];
bool peers[kMostDevices][kMostDevices];

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
cudaError_t failed(cudaError_t e) { return last_error = e; }

cudaError_t take(void** out, std::size_t bytes, int device) {
  const std::lock_guard lock(books);
  if (bytes > capacity() - used[device]) return failed(cudaErrorMemoryAllocation);
  void* p = ::operator new(bytes ? bytes : 1, std::align_val_t(256), std::nothrow);
  if (!p) return failed(cudaErrorMemoryAllocation);
  std::memset(p, 0xff, bytes);
  used[device] += bytes;
  blocks()[p] = {bytes, device};
  *out = p;
  return cudaSuccess;
}

cudaError_t give(void* p) {
  if (!p) return cudaSuccess;
  const std::lock_guard lock(books);
  const auto found = blocks().find(p);
  if (found == blocks().end()) return failed(cudaErrorInvalidValue);
  used[found->second.device] -= found->second.bytes;
  std::memset(p, 0xff, found->second.bytes);
  blocks().erase(found);
  ::operator delete(p, std::align_val_t(256));
  return cudaSuccess;
}

}  // namespace

// For the libraries of libraries/, which ask for it by name: how many bytes there are from `p` to
// the end of its allocation on a device, or on the current one (-1); 0 where there is none.
extern "C" __attribute__((visibility("default"))) std::size_t emulated_bytes_from(const void* p,
                                                                                  int device) {
  const std::lock_guard lock(books);
  auto after = blocks().upper_bound(const_cast<void*>(p));
  if (after == blocks().begin()) return 0;
  const auto& [start, block] = *--after;
  const auto offset = std::size_t(static_cast<const char*>(p) - static_cast<const char*>(start));
  const bool there = block.device == (device < 0 ? device_now : device);
  return offset < block.bytes && there ? block.bytes - offset : 0;
}

cudaError_t cudaGetDeviceCount(int* n) {
  *n = device_count();
  return *n ? cudaSuccess : failed(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int index) {
  if (index < 0 || index >= device_count()) return failed(cudaErrorInvalidDevice);
  device_now = index;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int index) {
  *p = {};
  std::snprintf(p->name, sizeof p->name, "Emulated GPU");
  p->uuid.bytes[15] = char(index);
  p->totalGlobalMem = capacity();
  p->sharedMemPerBlock = 48 << 10;
  p->major = 9;
  p->multiProcessorCount = 4;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxThreadsPerBlock = 1024;
  p->warpSize = 32;
  p->regsPerMultiprocessor = 65536;
  p->l2CacheSize = 4 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaMalloc(void** p, std::size_t bytes) { return take(p, bytes, device_now); }
cudaError_t cudaFree(void* p) { return give(p); }
cudaError_t cudaMallocFromPoolAsync(void** p, std::size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return take(p, bytes, pool->device);
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return give(p); }
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  *pool = new EmulatedPool{props->location.id};
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const std::lock_guard lock(books);
  *static_cast<std::uint64_t*>(value) = used[pool->device];
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(books);
  *total = capacity();
  *free = *total - used[device_now];
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  *p = ::operator new(bytes ? bytes : 1, std::align_val_t(64), std::nothrow);
  return *p ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  ::operator delete(p, std::align_val_t(64));
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind,
                            cudaStream_t) {
  if (n) std::memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t n, cudaStream_t) {
  if (n) std::memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t n, cudaStream_t) {
  if (n) std::memset(p, value, n);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) {
  *s = new EmulatedStream;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
  *e = new EmulatedEvent{{}, !(flags & cudaEventDisableTiming)};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  e->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return a->timed && b->timed ? cudaSuccess : failed(cudaErrorInvalidValue);
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
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: return "an error of the emulator";
  }
}
