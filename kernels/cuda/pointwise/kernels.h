// The kernels of every pointwise op, from its one formula. Two ways to the elements: where all
// operands are float32, 16-bit floats or conditions, and along the last dimension contiguous or one
// value, a thread takes four neighbours, with one access where they are aligned; else one element
// with any strides and dtypes. A scalar is an argument of the kernel.
#pragma once
#include <vector>

#include "kernels/cuda/elements.h"
#include "kernels/cuda/runtime/launch.h"
#include "kernels/math/trigonometric.h"
#include "kernels/pointwise/traits.h"

namespace rushlight::gpu {

inline constexpr int kMostOperands = kMaxInputs + kMaxSaved + 1;
inline constexpr int kVector = 4;

// A call as its kernel gets it: results first, then inputs.
struct PointwiseJob {
  Strided<kMostOperands> items;
  void* data[kMostOperands];  // null: a result that is not needed, or a scalar
  DType dtype[kMostOperands];
  bool is_scalar[kMostOperands];
  Scalar scalar[kMostOperands];
  Scalar parameters[kMaxParameters];
  // Where threads take four neighbours, which are then the items:
  Index length;  // of the last dimension, in elements
  bool is_single[kMostOperands];  // one value along it
  bool is_aligned[kMostOperands];  // four neighbours may be moved at once
};

template <class T>
struct Memory {
  using type = T;
};
template <>
struct Memory<Integer> {
  using type = std::int64_t;
};

// Four neighbours in memory, moved at once.
template <class S>
struct alignas(sizeof(S) * kVector) Four {
  S of[kVector];
  __device__ S get(int e) const { return of[e]; }
  __device__ void set(int e, S v) { of[e] = v; }
};
template <>
struct Four<bool> {  // single bytes would lie in local memory
  std::uint32_t word;
  __device__ bool get(int e) const { return word >> 8 * e & 0xff; }
  __device__ void set(int e, bool v) {
    word = (word & ~(0xffu << 8 * e)) | std::uint32_t(v) << 8 * e;
  }
};

// Of four neighbours the first `count`, one by one: bool, or floats of any of the three types that
// are computed in float. Calls, not inlined, for the ends of rows and for what is not aligned.
__device__ __attribute__((noinline)) inline Four<bool> load_each(Type<bool>, const void* data,
                                                                 DType, Index at, int count) {
  Four<bool> four = {};
  for (int e = 0; e < kVector; ++e)
    if (e < count) four.set(e, load(static_cast<const bool*>(data) + at + e));
  return four;
}
__device__ __attribute__((noinline)) inline Four<float> load_each(Type<float>, const void* data,
                                                                  DType d, Index at, int count) {
  Four<float> four = {};
  for (int e = 0; e < kVector; ++e)
    if (e < count) four.of[e] = Reader<float>(data, d)[at + e];
  return four;
}
__device__ __attribute__((noinline)) inline void store_each(void* data, DType, Index at, int count,
                                                            Four<bool> four) {
  for (int e = 0; e < kVector; ++e)
    if (e < count) static_cast<bool*>(data)[at + e] = four.get(e);
}
__device__ __attribute__((noinline)) inline void store_each(void* data, DType d, Index at,
                                                            int count, Four<float> four) {
  for (int e = 0; e < kVector; ++e)
    if (e < count) Writer<float>(data, d).set(at + e, four.of[e]);
}

// All four at once, where they are aligned.
__device__ inline Four<bool> load_four(Type<bool>, const void* data, DType, Index at) {
  return *reinterpret_cast<const Four<bool>*>(static_cast<const bool*>(data) + at);
}
__device__ inline Four<float> load_four(Type<float>, const void* data, DType d, Index at) {
  if (d == DType::float32)
    return *reinterpret_cast<const Four<float>*>(static_cast<const float*>(data) + at);
  const auto halves =
      *reinterpret_cast<const Four<std::uint16_t>*>(static_cast<const std::uint16_t*>(data) + at);
  Four<float> four;
  for (int e = 0; e < kVector; ++e) {
    const bfloat16 b = {halves.of[e]};
    const float16 h = {halves.of[e]};
    four.of[e] = d == DType::bfloat16 ? load(&b) : load(&h);
  }
  return four;
}
__device__ inline void store_four(void* data, DType, Index at, Four<bool> four) {
  *reinterpret_cast<Four<bool>*>(static_cast<bool*>(data) + at) = four;
}
__device__ inline void store_four(void* data, DType d, Index at, Four<float> four) {
  if (d == DType::float32) {
    *reinterpret_cast<Four<float>*>(static_cast<float*>(data) + at) = four;
    return;
  }
  Four<std::uint16_t> halves;
  for (int e = 0; e < kVector; ++e) {
    bfloat16 b;
    float16 h;
    store(&b, four.of[e]);
    store(&h, four.of[e]);
    halves.of[e] = d == DType::bfloat16 ? b.bits : h.bits;
  }
  *reinterpret_cast<Four<std::uint16_t>*>(static_cast<std::uint16_t*>(data) + at) = halves;
}

// The formula's type of input i, and of memory that holds it.
template <class K, class T, std::size_t i>
using InputType = std::conditional_t<bool(K::bools >> i & 1), bool, T>;

// An angle so far out that the CPU's fast reduction fails is replaced (kernels/math/trigonometric).
template <class Op, class T>
__device__ T nearer(T x) {
  if constexpr (Traits<Op>::angle && !kDeviceCode && std::is_floating_point_v<T>)
    return abs(x) > Layout<T>::near_angle ? equivalent_angle(x) : x;
  else
    return x;
}

template <class T>
__device__ T formula_value(Scalar s) {
  if constexpr (std::is_same_v<T, Integer>)
    return T(s.as_int());
  else
    return s.is_floating() ? convert<T>(s.d) : convert<T>(s.i);
}
template <class V>
__device__ auto memory_value(V v) {
  if constexpr (std::is_same_v<V, Integer>)
    return v.v;
  else
    return v;
}

template <class Op, class K, class T, class... X>
__device__ auto apply_formula(const Scalar* parameters, X... x) {
  return [&]<std::size_t... P>(std::index_sequence<P...>) {
    return K::apply(x..., formula_value<T>(parameters[P])...);
  }(std::make_index_sequence<Traits<Op>::parameters>{});
}

// Input i of one element, wherever it lies.
template <class Op, class K, class T, std::size_t i>
__device__ auto strided_input(const PointwiseJob& job, const Index* at) {
  constexpr int k = K::kOut + int(i);
  using V = InputType<K, T, i>;
  using M = typename Memory<V>::type;
  if (job.is_scalar[k]) return formula_value<V>(job.scalar[k]);
  const V v = V(load_as<M>(job.data[k], at[k], job.dtype[k]));
  if constexpr (i + 1 == K::kIn)
    return nearer<Op>(v);
  else
    return v;
}

template <class Op, class K, class T>
__global__ void pointwise_strided(PointwiseJob job) {
  for (Index i = first_item(); i < job.items.numel; i += stride()) {
    Index at[K::kOut + K::kIn];
    job.items.at(i, at);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto results =
          apply_formula<Op, K, T>(job.parameters, strided_input<Op, K, T, I>(job, at)...);
      for (int o = 0; o < K::kOut; ++o)
        if (job.data[o]) store_as(job.data[o], at[o], job.dtype[o], memory_value(results.of[o]));
    }(std::make_index_sequence<K::kIn>{});
  }
}

// Four neighbours of input i, in the formula's type.
template <class Op, class K, std::size_t i>
__device__ auto vector_input(const PointwiseJob& job, const Index* at, int count) {
  constexpr int k = K::kOut + int(i);
  using V = InputType<K, float, i>;
  struct {
    V of[kVector];
  } result;
  if (job.is_scalar[k]) {
    for (int e = 0; e < kVector; ++e) result.of[e] = formula_value<V>(job.scalar[k]);
    return result;
  }
  const Type<V> type;
  const bool single = job.is_single[k];
  const Four<V> four = job.is_aligned[k] && count == kVector
                           ? load_four(type, job.data[k], job.dtype[k], at[k])
                           : load_each(type, job.data[k], job.dtype[k], at[k], single ? 1 : count);
  for (int e = 0; e < kVector; ++e) {
    result.of[e] = single ? four.get(0) : four.get(e);
    if constexpr (i + 1 == K::kIn) result.of[e] = nearer<Op>(result.of[e]);
  }
  return result;
}

// 32 bits where both have no more: a 64-bit division is ten times slower.
__device__ inline Index quotient(Index a, Index by) {
  return (a | by) >> 31 == 0 ? Index(std::uint32_t(a) / std::uint32_t(by)) : divided(a, by);
}

// Four neighbours a thread; the last of a row may be fewer. Reads all inputs before it writes: in
// place, they are the same memory.
template <class Op, class K>
__global__ void pointwise_vectors(PointwiseJob job) {
  for (Index i = first_item(); i < job.items.numel; i += stride()) {
    const Strided<kMostOperands>& items = job.items;
    const Index row = items.rank > 1 ? quotient(i, items.sizes[0]) : 0,
                plane = items.rank > 2 ? quotient(row, items.sizes[1]) : 0;
    const Index x = i - row * items.sizes[0], y = row - plane * items.sizes[1];
    const Index left = job.length - x * kVector;
    Index at[K::kOut + K::kIn];
    for (int k = 0; k < K::kOut + K::kIn; ++k)
      at[k] = x * items.strides[k][0] + y * items.strides[k][1] + plane * items.strides[k][2];
    const int count = left < kVector ? int(left) : kVector;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [&](auto... four) {
        using R = std::conditional_t<K::bool_result, bool, float>;
        Four<R> results[K::kOut] = {};
        for (int e = 0; e < kVector; ++e) {
          const auto one = apply_formula<Op, K, float>(job.parameters, four.of[e]...);
          for (int o = 0; o < K::kOut; ++o) results[o].set(e, static_cast<R>(one.of[o]));
        }
        for (int o = 0; o < K::kOut; ++o) {
          if (!job.data[o]) continue;
          if (job.is_aligned[o] && count == kVector)
            store_four(job.data[o], job.dtype[o], at[o], results[o]);
          else
            store_each(job.data[o], job.dtype[o], at[o], count, results[o]);
        }
      }(vector_input<Op, K, I>(job, at, count)...);
    }(std::make_index_sequence<K::kIn>{});
  }
}

// Makes items of four neighbours, if pointwise_vectors can read and write every operand so.
bool cut_into_vectors(PointwiseJob& job, int outputs, int operands, unsigned bools,
                      bool bool_result);
PointwiseJob make_job(const PointwiseCall& c, int outputs, int inputs, int parameters);

template <class Op, class K, class T>
void run_pointwise(const PointwiseCall& c) {
  PointwiseJob job = make_job(c, K::kOut, K::kIn, Traits<Op>::parameters);
  if constexpr (std::is_same_v<T, float>)
    if (cut_into_vectors(job, K::kOut, K::kOut + K::kIn, K::bools, K::bool_result))
      return launch_items(Traits<Op>::signature.data(), pointwise_vectors<Op, K>, job.items.numel,
                          job);
  launch_items(Traits<Op>::signature.data(), pointwise_strided<Op, K, T>, job.items.numel, job);
}

// By Computes; null where the op does not take that type.
struct PointwiseRow {
  void (*forward[3])(const PointwiseCall&) = {};
  void (*backward[2])(const PointwiseCall&) = {};
  bool divides = false;
};

// What is computed in float, and the rest: in files of their own, so that each compiles in seconds.
template <class Op>
void fill_row(PointwiseRow& row) {
  using T = Traits<Op>;
  row.divides = T::divides;
  if constexpr (T::on_floats && !T::in_double)
    row.forward[0] = run_pointwise<Op, Forward<Op>, float>;
  if constexpr (T::differentiable && !T::in_double)
    row.backward[0] = run_pointwise<Op, Backward<Op>, float>;
}
template <class Op>
void fill_wide_row(PointwiseRow& row) {
  using T = Traits<Op>;
  if constexpr (T::on_floats) row.forward[1] = run_pointwise<Op, Forward<Op>, double>;
  if constexpr (T::on_integers) row.forward[2] = run_pointwise<Op, Forward<Op>, Integer>;
  if constexpr (T::differentiable) row.backward[1] = run_pointwise<Op, Backward<Op>, double>;
}

// Appends the rows of one list; each file <family>.cu defines its own. Then each <family>_wide.cu
// fills what is missing in the rows of its list, which begin at `row`, and returns where they end.
using PointwiseTable = std::vector<PointwiseRow>;
template <class... Ops>
void append_rows(PointwiseTable& table, OpList<Ops...>) {
  (fill_row<Ops>(table.emplace_back()), ...);
}
template <class... Ops>
void append_whole_rows(PointwiseTable& table, OpList<Ops...>) {  // of families in one file
  ((fill_row<Ops>(table.emplace_back()), fill_wide_row<Ops>(table.back())), ...);
}
template <class... Ops>
PointwiseRow* fill_wide_rows(PointwiseRow* row, OpList<Ops...>) {
  (fill_wide_row<Ops>(*row++), ...);
  return row;
}
void append_arithmetic_rows(PointwiseTable& table);
void append_selection_rows(PointwiseTable& table);
void append_comparison_rows(PointwiseTable& table);
void append_exponential_rows(PointwiseTable& table);
void append_trigonometric_rows(PointwiseTable& table);
void append_activation_rows(PointwiseTable& table);
void append_loss_rows(PointwiseTable& table);
void append_special_rows(PointwiseTable& table);
void append_bessel_rows(PointwiseTable& table);
PointwiseRow* fill_wide_arithmetic_rows(PointwiseRow* row);
PointwiseRow* fill_wide_selection_rows(PointwiseRow* row);
PointwiseRow* fill_wide_comparison_rows(PointwiseRow* row);
PointwiseRow* fill_wide_exponential_rows(PointwiseRow* row);
PointwiseRow* fill_wide_trigonometric_rows(PointwiseRow* row);
PointwiseRow* fill_wide_activation_rows(PointwiseRow* row);
PointwiseRow* fill_wide_loss_rows(PointwiseRow* row);

}  // namespace rushlight::gpu
