// What every kernel file includes: the device's language, threads, shared memory, and the one block
// reduction. Under nvcc <cuda_runtime.h> is CUDA's; in the emulated build it is the one of
// tests/emulator, and the same text runs on the CPU. Kernels keep to what both have: shared memory
// through shared_memory(), launches through launch() of launch.h, blocks of whole warps where
// threads synchronize, and never an access outside its operand that only some GPUs would forgive.
#pragma once
#include <cuda_runtime.h>

#include "../strided.h"

namespace rushlight::gpu {

inline constexpr int kWarp = 32;
inline constexpr int kThreads = 256;  // of a block, where no kernel names another number

extern __shared__ float4 dynamic_shared[];
// The block's shared memory, whose size the launch gives.
template <class T>
__device__ T* shared_memory() {
  return reinterpret_cast<T*>(dynamic_shared);
}

// A loop over n items by all threads of a grid: for (Index i = first_item(); i < n; i += stride())
__device__ inline Index first_item() { return Index(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline Index stride() { return Index(gridDim.x) * blockDim.x; }

// shuffle(word) of a value of any type made of whole words.
template <class T, class Shuffle>
__device__ T shuffle_words(T v, Shuffle shuffle) {
  static_assert(sizeof(T) % 4 == 0);
  if constexpr (sizeof(T) == 4 || (sizeof(T) == 8 && std::is_arithmetic_v<T>)) {
    return shuffle(v);
  } else {
    using Word = std::conditional_t<sizeof(T) % 8 == 0, unsigned long long, unsigned>;
    Word words[sizeof(T) / sizeof(Word)];
    memcpy(words, &v, sizeof(T));
    for (Word& w : words) w = shuffle(w);
    memcpy(&v, words, sizeof(T));
    return v;
  }
}
// The value of the lane `by` further on, and of that as many before.
template <class T>
__device__ T shuffle_down(T v, int by) {
  return shuffle_words(v, [&](auto word) { return __shfl_down_sync(0xffffffffu, word, by); });
}
template <class T>
__device__ T shuffle_up(T v, int by) {
  return shuffle_words(v, [&](auto word) { return __shfl_up_sync(0xffffffffu, word, by); });
}

// join() over all threads of a block (one dimension, whole warps), the result in each of them.
// `shared` has room for one T a warp; it is free again when the call returns.
template <class T, class Join>
__device__ T block_reduce(T v, Join join, T* shared) {
  for (int by = kWarp / 2; by > 0; by /= 2) v = join(v, shuffle_down(v, by));
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  v = shared[0];
  for (int w = 1; w < warps; ++w) v = join(v, shared[w]);
  __syncthreads();
  return v;
}

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {  // a NaN wins
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

// An element of any type as float, double or 64 bits, for the rare mixed case: a switch for each
// element, the same way in all threads. Calls, not inlined: a kernel has up to eight of them.
template <class T>
__device__ __attribute__((noinline)) T load_as(const void* p, Index at, DType d) {
  const auto read = [&]<class S>(Type<S>) {
    return convert<T>(load(static_cast<const S*>(p) + at));
  };
  switch (d) {
    case DType::boolean: return read(Type<bool>{});
    case DType::uint8: return read(Type<std::uint8_t>{});
    case DType::int8: return read(Type<std::int8_t>{});
    case DType::int16: return read(Type<std::int16_t>{});
    case DType::int32: return read(Type<std::int32_t>{});
    case DType::int64: return read(Type<std::int64_t>{});
    case DType::float16: return read(Type<float16>{});
    case DType::bfloat16: return read(Type<bfloat16>{});
    case DType::float64: return read(Type<double>{});
    default: return read(Type<float>{});
  }
}
template <class T>
__device__ __attribute__((noinline)) void store_as(void* p, Index at, DType d, T v) {
  const auto write = [&]<class S>(Type<S>) {
    store(static_cast<S*>(p) + at, convert<Compute<S>>(v));
  };
  switch (d) {
    case DType::boolean: return write(Type<bool>{});
    case DType::uint8: return write(Type<std::uint8_t>{});
    case DType::int8: return write(Type<std::int8_t>{});
    case DType::int16: return write(Type<std::int16_t>{});
    case DType::int32: return write(Type<std::int32_t>{});
    case DType::int64: return write(Type<std::int64_t>{});
    case DType::float16: return write(Type<float16>{});
    case DType::bfloat16: return write(Type<bfloat16>{});
    case DType::float64: return write(Type<double>{});
    default: return write(Type<float>{});
  }
}

}  // namespace rushlight::gpu
