// The device and stream that `enter` made current on this thread, as all host code sees them:
// checks of calls, the note in which a kernel says that an index was out of range, scratch memory.
// No kernel is here: g++ compiles what includes no more than this.
#pragma once
#include <cuda_runtime.h>
#include <new>

#include "kernels/scratch_bytes.h"
#include "kernels/strided.h"

namespace rushlight::gpu {

// What a kernel found wrong: it uses a valid index instead and goes on; the next call that
// waits for the device raises IndexError from this. Lies in host memory that the device writes to.
struct Note {
  unsigned state;
  int op;  // index in a table of words
  Index value, size;
};
// The first thread with an error claims a free note, writes its fields and marks it as written; the
// host frees what is written. The fields of a note that is only claimed are not read.
inline constexpr unsigned kNoteFree = 0, kNoteClaimed = 1, kNoteWritten = 2;
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
// Raises what kernels of any device have noted since the last call. Called wherever the host waits.
void raise_notes();

// Null where there is no memory, after what was only cached has been given up.
void* try_scratch(std::size_t bytes);
void* take_scratch(std::size_t bytes, const char* op);
void give_scratch(void* block, std::size_t bytes) noexcept;

// Device memory for the length of a call, in the order of the stream; counted in the statistics,
// and within the limit, as tensors are. Of no elements: null.
template <class T>
class Scratch {
 public:
  Scratch(Index count, const char* op)
      : bytes_(scratch_bytes(std::size_t(count), sizeof(T))),
        data_(static_cast<T*>(take_scratch(bytes_, op))) {}
  // Without data where there is no memory for it.
  Scratch(Index count, std::nothrow_t)
      : bytes_(scratch_bytes(std::size_t(count), sizeof(T))),
        data_(static_cast<T*>(try_scratch(bytes_))) {}
  ~Scratch() { give_scratch(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

// One value from the device, when all before it is done.
template <class T>
T fetch(const T* from, const char* op) {
  T value;
  check(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDefault, current().stream), op);
  check(cudaStreamSynchronize(current().stream), op);
  raise_notes();
  return value;
}

}  // namespace rushlight::gpu
