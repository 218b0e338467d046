// What is used of NCCL, in our own words: numbers and signatures are facts of its binary interface,
// so that none of NVIDIA's headers is needed to build.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::nccl {

using Status = int;
inline constexpr Status kSuccess = 0, kInvalidArgument = 4;
enum class Element : int { float16 = 6, float32 = 7, float64 = 8, bfloat16 = 9 };
inline constexpr int kSum = 0;

using Member = struct MemberBody*;  // of a group of devices that work together

struct Functions {
  Status (*version)(int*);
  const char* (*words)(Status);
  Status (*create)(Member* members, int count, const int* devices);
  // Calls between these two are one piece of work of all members.
  Status (*begin)();
  Status (*end)();
  // `root` counts members, not devices.
  Status (*reduce)(const void* part, void* total, std::size_t count, Element, int operation,
                   int root, Member, cudaStream_t);
  Status (*broadcast)(const void* source, void* place, std::size_t count, Element, int root, Member,
                      cudaStream_t);

  static constexpr const char* names[] = {"ncclGetVersion", "ncclGetErrorString", "ncclCommInitAll",
                                          "ncclGroupStart", "ncclGroupEnd",       "ncclReduce",
                                          "ncclBroadcast"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::nccl
