// Work that several devices of a provider do together, of one process or of one process each. Note:
// each device works on the stream that is given for it and nothing waits, so results are good for
// what follows on it.
#pragma once
#include "runtime.h"
#include "view.h"

namespace rushlight {

struct DeviceGroup {
  int count;
  const int* devices;  // all different
  const StreamId* streams;  // one of each
  int root;  // an index of `devices`
};

// This process's part in a group of processes that have one device each.
struct GroupMember;
inline constexpr std::size_t kGroupIdBytes = 128;

// What all members call alike; only a send and a receive are of two. Parts of several ranks lie
// behind each other in the order of ranks, `count` elements each.
struct MemberCall {
  enum class What : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    all_to_all,
    broadcast,
    gather,
    scatter,
    send,
    receive,
    reduce_scatter,
  };
  enum class Reduction : std::uint8_t { sum, product, min, max };
  What what;
  const void* in;
  void* out;
  std::size_t count;
  DType dtype;
  Reduction reduction;
  int peer;  // root, source or destination
};

// Functions throw DeviceError with the library's words.
struct GroupKernels {
  // What one member makes and all join with; false where the provider has no such groups.
  bool (*new_id)(char (&id)[kGroupIdBytes]);
  // Waits for the others, at most so long.
  GroupMember* (*join)(int device, const char (&id)[kGroupIdBytes], int rank, int size,
                       std::int64_t milliseconds);
  // As one piece of work; the first calls connect, which may wait for the others.
  void (*enqueue)(GroupMember* member, const MemberCall* calls, int count, StreamId stream,
                  std::int64_t milliseconds);
  // Whether something has gone wrong since, and what.
  bool (*error)(GroupMember* member, char* words, std::size_t size);
  // Ends what is under way; the member stays, and answers all calls with an error.
  void (*abort)(GroupMember* member);
  void (*leave)(GroupMember* member, std::int64_t milliseconds);  // after all calls, or abort()
};

// Views are contiguous and floating, and none is empty. False where the provider cannot do it for
// these devices: then nothing was done.
struct CollectiveKernels {
  // totals[j], on the root, = the sum over i of parts[j * count + i], on device i.
  bool (*reduce)(const DeviceGroup& group, int jobs, const View* parts, const View* totals);
  // targets[j * count + i], on device i, = sources[j], on the root, whose own part is not written.
  bool (*broadcast)(const DeviceGroup& group, int jobs, const View* sources, const View* targets);
  const GroupKernels* groups;
};

}  // namespace rushlight
