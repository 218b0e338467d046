// A batch of matrices as the kernels of linalg_*.cu get it: stored by columns, each dense.
#pragma once
#include "kernels/cuda/elements.h"
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

template <class T>
struct Batch {
  explicit Batch(const View& v)
      : count(v.sizes[0]),
        rows(v.sizes[1]),
        columns(v.sizes[2]),
        lead(v.strides[2]),
        step(v.strides[0]),
        data(v.as<T>()) {}
  __device__ T* column(Index i, Index c) const { return data + i * step + c * lead; }
  Index count, rows, columns;
  Index lead, step;  // from one column to the next, from one matrix to the next
  T* data;
};

// A grid for a loop over columns of all matrices (y) and over rows (x).
inline dim3 grid_of_columns(const View& v) {
  const Index lines = v.sizes[0] * v.sizes[2];
  return dim3(blocks_for(v.sizes[1]), unsigned(lines < 65535 ? lines : 65535));
}

template <class T>
__device__ T magnitude(T v) {
  return v < T(0) ? -v : v;
}

}  // namespace rushlight::gpu
