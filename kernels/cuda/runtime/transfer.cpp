// Bytes between the host and the devices, and from device to device. The host waits only for what
// it is about to read, or to change.
#include <atomic>
#include <cstring>

#include "devices.h"
#include "memory.h"
#include "pinned.h"

namespace rushlight::gpu {
namespace {

// Up to here, pageable memory that a device reads itself is copied first, so that the host does not
// wait.
constexpr std::size_t kStaged = 1 << 20;

// Whether the devices read pageable memory of the host by themselves (GH200, GB200, and where the
// kernel maps it for them): a copy from it may then go on when the call has returned. Elsewhere the
// driver takes a copy first.
bool reads_pageable(int index) {
  static std::atomic<signed char> answers[kMostDevices];  // 0: not queried yet
  signed char answer = answers[index].load(std::memory_order_relaxed);
  if (!answer) {
    int yes = 0;
    check(cudaDeviceGetAttribute(&yes, cudaDevAttrPageableMemoryAccess, index), "copy");
    answers[index] = answer = yes ? 1 : -1;
  }
  return answer > 0;
}

void wait_for(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "copy");
  raise_notes();
}

void copy(const ByteCopy& c, const void* from, cudaStream_t stream) {
  check(cudaMemcpyAsync(c.to, from, c.bytes, cudaMemcpyDefault, stream), "copy");
}

void copy_from_pageable(const ByteCopy& c, OnStream on) {
  void* staged =
      reads_pageable(c.to_index) && c.bytes <= kStaged ? allocate_pinned(c.bytes) : nullptr;
  if (staged) {
    std::memcpy(staged, c.from, c.bytes);
    copy(c, staged, on.stream);
    note_reading(staged, on);
    release_pinned(staged, c.bytes);
  } else {
    copy(c, c.from, on.stream);
    if (reads_pageable(c.to_index)) wait_for(on.stream);
  }
}

}  // namespace

void copy_bytes(const ByteCopy& c) {
  if (c.bytes == 0) return;
  const cudaStream_t stream = current().stream;
  if (c.to_index >= 0 && c.from_index >= 0 && c.to_index != c.from_index) {
    // The driver goes through the host where the devices cannot reach each other.
    const auto source = reinterpret_cast<cudaStream_t>(c.from_stream);
    order({c.from_index, source}, {c.to_index, stream});
    check(cudaMemcpyPeerAsync(c.to, c.to_index, c.from, c.from_index, c.bytes, stream), "copy");
    order({c.to_index, stream}, {c.from_index, source});
    if (blocking()) wait_for(stream);
    return;
  }
  if (c.to_index < 0) {
    copy(c, c.from, stream);
    return wait_for(stream);
  }
  const OnStream on{c.to_index, stream};
  const bool from_pinned = c.from_index < 0 && is_pinned(c.from);
  if (c.from_index < 0 && !from_pinned)
    copy_from_pageable(c, on);
  else
    copy(c, c.from, stream);
  if (from_pinned && c.non_blocking) note_reading(c.from, on);
  if ((from_pinned && !c.non_blocking) || blocking()) wait_for(stream);
}

}  // namespace rushlight::gpu
