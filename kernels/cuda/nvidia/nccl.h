// What is used of NCCL: numbers and signatures are facts of its binary interface,
// so that none of NVIDIA's headers is needed to build.
#pragma once
#include <climits>
#include <cstddef>
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::nccl {

using ncclResult_t = int;
inline constexpr ncclResult_t ncclSuccess = 0, ncclInvalidArgument = 4, ncclInvalidUsage = 5,
                              ncclRemoteError = 6, ncclInProgress = 7;
enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt64 = 4,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9
};
inline constexpr int ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3;

using ncclComm_t = struct ncclComm*;  // of a group of devices that work together
struct ncclUniqueId {
  char internal[128];
};
// The layout of 2.18: a library reads as much as `size` says, as `version` knew it.
struct ncclConfig_t {
  std::size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef;  // NCCL_API_MAGIC
  unsigned version = 21805;
  int blocking = INT_MIN;  // NCCL_CONFIG_UNDEF_INT
  int cgaClusterSize = INT_MIN, minCTAs = INT_MIN, maxCTAs = INT_MIN;
  const char* netName = nullptr;
  int splitShare = INT_MIN;
};

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
  ncclResult_t (*broadcast)(const void* source, void* target, std::size_t count, ncclDataType_t,
                            int root, ncclComm_t, cudaStream_t);
  // Of one process each.
  ncclResult_t (*new_id)(ncclUniqueId*);
  ncclResult_t (*join)(ncclComm_t*, int size, ncclUniqueId, int rank, ncclConfig_t*);
  ncclResult_t (*finalize)(ncclComm_t);
  ncclResult_t (*destroy)(ncclComm_t);
  ncclResult_t (*abort)(ncclComm_t);
  ncclResult_t (*async_error)(ncclComm_t, ncclResult_t*);
  const char* (*last_error)(ncclComm_t);
  ncclResult_t (*all_reduce)(const void* part, void* total, std::size_t count, ncclDataType_t,
                             int operation, ncclComm_t, cudaStream_t);
  ncclResult_t (*all_gather)(const void* part, void* all, std::size_t count, ncclDataType_t,
                             ncclComm_t, cudaStream_t);
  ncclResult_t (*reduce_scatter)(const void* parts, void* total, std::size_t count, ncclDataType_t,
                                 int operation, ncclComm_t, cudaStream_t);
  ncclResult_t (*send)(const void*, std::size_t count, ncclDataType_t, int peer, ncclComm_t,
                       cudaStream_t);
  ncclResult_t (*receive)(void*, std::size_t count, ncclDataType_t, int peer, ncclComm_t,
                          cudaStream_t);

  static constexpr const char* names[] = {
      "ncclGetVersion",         "ncclGetErrorString", "ncclCommInitAll", "ncclGroupStart",
      "ncclGroupEnd",           "ncclReduce",         "ncclBroadcast",   "ncclGetUniqueId",
      "ncclCommInitRankConfig", "ncclCommFinalize",   "ncclCommDestroy", "ncclCommAbort",
      "ncclCommGetAsyncError",  "ncclGetLastError",   "ncclAllReduce",   "ncclAllGather",
      "ncclReduceScatter",      "ncclSend",           "ncclRecv"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::nccl
