// How the host starts kernels: on the current device and stream, every launch checked and named.
// And how a kernel leaves a note.
#pragma once
#include "current.h"
#include "kernels/cuda/device.h"

namespace rushlight::gpu {

// The device code's side of a note.
__device__ inline void leave_note(Note* note, Noted op, Index value, Index size) {
  volatile unsigned& state = note->state;
  if (state != kNoteFree || atomicCAS(&note->state, kNoteFree, kNoteClaimed) != kNoteFree) return;
  note->op = int(op);
  note->value = value;
  note->size = size;
  __threadfence_system();
  state = kNoteWritten;
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

}  // namespace rushlight::gpu
