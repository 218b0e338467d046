// What is used of NCCL: numbers and signatures are facts of its binary interface,
// so that none of NVIDIA's headers is needed to build.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::nccl {

using ncclResult_t = int;
inline constexpr ncclResult_t ncclSuccess = 0, ncclInvalidArgument = 4;
enum ncclDataType_t : int { ncclFloat16 = 6, ncclFloat32 = 7, ncclFloat64 = 8, ncclBfloat16 = 9 };
inline constexpr int ncclSum = 0;

using ncclComm_t = struct ncclComm*;  // of a group of devices that work together

struct Functions {
  ncclResult_t (*version)(int*);
  const char* (*words)(ncclResult_t);
  ncclResult_t (*create)(ncclComm_t* members, int count, const int* devices);
  // Calls between these two are one piece of work of all members.
  ncclResult_t (*begin)();
  ncclResult_t (*end)();
  // `root` counts members, not devices.
  ncclResult_t (*reduce)(const void* part, void* total, std::size_t count, ncclDataType_t,
                         int operation, int root, ncclComm_t, cudaStream_t);
  ncclResult_t (*broadcast)(const void* source, void* place, std::size_t count, ncclDataType_t,
                            int root, ncclComm_t, cudaStream_t);

  static constexpr const char* names[] = {"ncclGetVersion", "ncclGetErrorString", "ncclCommInitAll",
                                          "ncclGroupStart", "ncclGroupEnd",       "ncclReduce",
                                          "ncclBroadcast"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::nccl
