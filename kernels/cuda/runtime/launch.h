// How the host starts kernels: on the device and stream that `enter` made current on this thread,
// every launch checked and named. Also scratch memory, and the note in which a kernel says that an
// index was out of range.
#pragma once
#include "kernels/cuda/device.h"

namespace rushlight::gpu {

// What a kernel found wrong: it uses a valid index instead and goes on; the next call that
// waits for the device raises IndexError from this. Lies in host memory that the device writes to.
struct Note {
  unsigned taken;  // by the first thread that has something to say
  int op;          // index in a table of words
  Index value, size;
};
enum class Noted : int { none, index, target, embedding, pool, pivot };

struct Current {
  int device = -1;
  cudaStream_t stream = nullptr;
  Note* note = nullptr;  // of the device
};
Current& current();

void check(cudaError_t error, const char* op);
void finish_launch(cudaError_t error, const char* op);
bool blocking();  // RUSHLIGHT_LAUNCH_BLOCKING=1

// The device code's side of a note.
__device__ inline void leave_note(Note* note, Noted op, Index value, Index size) {
  if (atomicCAS(&note->taken, 0u, 1u) != 0u) return;
  note->op = int(op);
  note->value = value;
  note->size = size;
}
// `value`, or 0 and a note where it does not lie in [0, size).
__device__ inline Index checked_index(Note* note, Noted op, Index value, Index size) {
  if (value >= 0 && value < size) return value;
  leave_note(note, op, value, size);
  return 0;
}

inline unsigned blocks_for(Index items, Index per_block = kThreads) {
  const Index blocks = (items + per_block - 1) / per_block;
  return unsigned(blocks < 1 ? 1 : blocks > 65535 * 8 ? 65535 * 8 : blocks);
}

template <class... P, class... A>
void launch(const char* op, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared,
            A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = current().stream;
  finish_launch(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...), op);
}
// One thread an item, in loops where there are very many.
template <class... P, class... A>
void launch_items(const char* op, void (*kernel)(P...), Index items, A... arguments) {
  if (items > 0) launch(op, kernel, blocks_for(items), kThreads, 0, arguments...);
}

void* take_scratch(std::size_t bytes, const char* op);
void give_scratch(void* block) noexcept;

// Device memory for the length of a call, in the order of the stream.
template <class T>
class Scratch {
 public:
  Scratch(Index count, const char* op)
      : data_(static_cast<T*>(take_scratch(std::size_t(count) * sizeof(T), op))) {}
  ~Scratch() { give_scratch(data_); }
  Scratch(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  T* data_;
};

// One value from the device, when all before it is done.
template <class T>
T fetch(const T* from, const char* op) {
  T value;
  check(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDefault, current().stream), op);
  check(cudaStreamSynchronize(current().stream), op);
  return value;
}

}  // namespace rushlight::gpu
