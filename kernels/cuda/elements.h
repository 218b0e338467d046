// Elements of memory as what is computed in: float for float32 and both 16-bit types, double for
// float64, 64 bits for integers. One kernel then serves all types of a class, and float32
// costs it one test that goes the same way in all threads.
#pragma once
#include "device.h"

namespace rushlight::gpu {

template <class C>
struct Reader {
  const void* data;
  DType dtype;
  HOST_DEVICE Reader(const void* p, DType d) : data(p), dtype(d) {}
  Reader(const View& v) : data(v.data), dtype(v.dtype) {}
  Reader(const View* v) : data(v ? v->data : nullptr), dtype(v ? v->dtype : DType::float32) {}
  __device__ C operator[](Index i) const {
    if constexpr (std::is_same_v<C, float>) {
      if (dtype == DType::bfloat16) return load(static_cast<const bfloat16*>(data) + i);
      if (dtype == DType::float16) return load(static_cast<const float16*>(data) + i);
      return static_cast<const float*>(data)[i];
    } else if constexpr (std::is_same_v<C, double>) {
      return static_cast<const double*>(data)[i];
    } else {
      return load_as<C>(data, i, dtype);
    }
  }
  __device__ C value_or(Index i, C otherwise) const { return data ? (*this)[i] : otherwise; }
};

template <class C>
struct Writer {
  void* data;
  DType dtype;
  HOST_DEVICE Writer(void* p, DType d) : data(p), dtype(d) {}
  Writer(const View& v) : data(v.data), dtype(v.dtype) {}
  Writer(const View* v) : data(v ? v->data : nullptr), dtype(v ? v->dtype : DType::float32) {}
  __device__ void set(Index i, C v) const {
    if constexpr (std::is_same_v<C, float>) {
      if (dtype == DType::bfloat16)
        store(static_cast<bfloat16*>(data) + i, v);
      else if (dtype == DType::float16)
        store(static_cast<float16*>(data) + i, v);
      else
        static_cast<float*>(data)[i] = v;
    } else if constexpr (std::is_same_v<C, double>) {
      static_cast<double*>(data)[i] = v;
    } else {
      store_as<C>(data, i, dtype, v);
    }
  }
  __device__ explicit operator bool() const { return data != nullptr; }
};

// Calls f(Type<C>{}) for what floating memory of this type is computed in, or any memory.
template <class F>
auto compute_floating(DType d, F&& f) {
  return d == DType::float64 ? f(Type<double>{}) : f(Type<float>{});
}
template <class F>
auto compute_any(DType d, F&& f) {
  return is_floating(d) ? compute_floating(d, f) : f(Type<Index>{});
}

// Threads of a block that works on a row of n elements: whole warps, up to kThreads.
inline int threads_for(Index n) {
  int threads = kWarp;
  while (threads < kThreads && threads < n) threads *= 2;
  return threads;
}
// Shared memory for one block_reduce of T.
template <class T>
constexpr std::size_t reduce_bytes() {
  return sizeof(T) * (1024 / kWarp);
}

}  // namespace rushlight::gpu
