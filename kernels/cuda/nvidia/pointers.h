// A batch as the older functions of cuBLAS and cuSOLVER take it: an array of pointers in device
// memory, and parts of a size that they all take.
#pragma once
#include "kernels/cuda/runtime/current.h"

namespace rushlight::gpu {

// The address of each matrix of `v` into `out`, on the device (linalg.cu).
void point_to_matrices(const View& v, void** out, const char* op);

// Where each matrix of a batch lies.
class Pointers {
 public:
  Pointers(const View& v, const char* op) : all_(v.sizes[0], op) {
    point_to_matrices(v, all_.data(), op);
  }
  void** operator[](Index i) const { return all_.data() + i; }

 private:
  const Scratch<void*> all_;
};

// f(first, count) for the parts of a batch that go into one call each.
template <class F>
void each_part(Index batch, F f) {
  constexpr Index most = 32768;
  for (Index first = 0; first < batch; first += most)
    f(first, int(batch - first < most ? batch - first : most));
}

}  // namespace rushlight::gpu
