// What the stand-in of NCCL has of groups of processes: see nccl_group.cpp.
#pragma once
#include <cstddef>

#include "kernels/cuda/nvidia/nccl.h"

namespace emulated {

using namespace rushlight::gpu::nccl;

// One call on a communicator. Counts are of elements.
struct GroupCall {
  enum What : int { all_reduce, reduce, all_gather, reduce_scatter, broadcast, send, receive } what;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t element;
  int operation;
  int peer;
  cudaStream_t stream;
};

class Across;
// Begins to connect; state_of() says when it has.
Across* join_across(int size, const ncclUniqueId& id, int rank, int device);
// Ends what is under way.
void leave_across(Across*);
ncclResult_t ask_across(Across&, const GroupCall& call);
// The calls that were asked for since the last time, of all communicators, are given to streams.
void end_across();
ncclResult_t state_of(Across&);
const char* last_words();
std::size_t bytes_of(ncclDataType_t e);

}  // namespace emulated
