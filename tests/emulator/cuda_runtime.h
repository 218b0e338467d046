// Stands in for CUDA's header of this name when the kernels of kernels/cuda are compiled as plain
// C++ for tests: the words of the language, the built-in functions, and the runtime calls that the
// provider makes, by host memory. Device memory that was never written is NaN.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "streams.h"

#define __global__
#define __device__
#define __host__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// Set for each thread before it runs; one block runs at a time.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulator {
void block_barrier();
void warp_barrier();
int lane();
std::uint64_t exchange(std::uint64_t value, int from);  // its own where there is no such lane
void pause_after_atomic(const void* p);  // where RUSHLIGHT_EMULATED_SLOW_NOTES says so
}  // namespace emulator

inline void __syncthreads() { emulator::block_barrier(); }
inline void __syncwarp(unsigned = 0xffffffffu) { emulator::warp_barrier(); }
inline void __threadfence() {}
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

template <class T>
T emulated_shuffle(T v, int from) {
  std::uint64_t bits = 0;
  static_assert(sizeof v <= sizeof bits);
  std::memcpy(&bits, &v, sizeof v);
  bits = emulator::exchange(bits, from);
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T>
T __shfl_down_sync(unsigned, T v, unsigned by) {
  return emulated_shuffle(v, emulator::lane() + int(by));
}
template <class T>
T __shfl_up_sync(unsigned, T v, unsigned by) {
  return emulated_shuffle(v, emulator::lane() - int(by));
}
template <class T>
T __shfl_xor_sync(unsigned, T v, int mask) {
  return emulated_shuffle(v, emulator::lane() ^ mask);
}
template <class T>
T __shfl_sync(unsigned, T v, int from) {
  return emulated_shuffle(v, from);
}

template <class T>
T atomicAdd(T* p, T v) {
  const T old = *p;
  *p = old + v;
  return old;
}
template <class T>
T atomicMax(T* p, T v) {
  const T old = *p;
  *p = old < v ? v : old;
  return old;
}
template <class T>
T atomicMin(T* p, T v) {
  const T old = *p;
  *p = v < old ? v : old;
  return old;
}
template <class T>
T atomicCAS(T* p, T expected, T v) {
  const T old = *p;
  if (old != expected) return old;
  *p = v;
  emulator::pause_after_atomic(p);
  return old;
}
template <class T>
T atomicExch(T* p, T v) {
  const T old = *p;
  *p = v;
  return old;
}
inline std::uint64_t __umul64hi(std::uint64_t a, std::uint64_t b) {
  return std::uint64_t((unsigned __int128)(a)*b >> 64);
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(std::uint64_t(a) * b >> 32); }
#if !__GLIBC_PREREQ(2, 41)
inline double cospi(double x) { return std::cos(3.14159265358979323846 * x); }
inline double sinpi(double x) { return std::sin(3.14159265358979323846 * x); }
#endif

// The runtime.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801
};
using cudaMemPool_t = struct EmulatedPool*;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemPoolAttr {
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemAccessFlags { cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  int handleTypes;
  cudaMemLocation location;
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2,
                          cudaHostAllocMapped = 2, cudaHostAllocPortable = 1;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxThreadsPerBlock, warpSize,
      regsPerMultiprocessor, l2CacheSize;
};
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrMemoryPoolsSupported = 115
};
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocFromPoolAsync(void**, std::size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t);
cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*);
cudaError_t cudaHostAlloc(void**, std::size_t, unsigned);
cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, cudaStream_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
cudaError_t cudaDeviceGetStreamPriorityRange(int*, int*);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaDeviceCanAccessPeer(int*, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t);

enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1 };
struct cudaPointerAttributes {
  cudaMemoryType type;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  void* attrs = nullptr;
  unsigned numAttrs = 0;
};
namespace emulator {
bool can_run(const cudaLaunchConfig_t& config);
void run(const cudaLaunchConfig_t& config, void (*call)(void*), void* kernel);
}  // namespace emulator
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... a) {
  struct Call {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
  };
  if (emulator::device_of(config->stream) != emulator::current_device())
    return cudaErrorInvalidResourceHandle;
  if (!emulator::can_run(*config)) return cudaErrorInvalidValue;
  emulator::give(
      config->stream,
      [c = *config, made = Call{kernel, std::tuple<P...>(static_cast<P>(a)...)}]() mutable {
        emulator::run(
            c,
            [](void* it) {
              std::apply(static_cast<Call*>(it)->kernel, static_cast<Call*>(it)->arguments);
            },
            &made);
      });
  return cudaSuccess;
}
