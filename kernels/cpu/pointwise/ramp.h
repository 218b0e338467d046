// elu and its relatives: in blocks of positive elements alone, of which a network has many, they
// are x times a constant.
#pragma once
#include <algorithm>

#include "blocks.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

template <class T>
CLONES_512 bool all_positive(const T* x, std::int64_t n) {
  int other = 0;
  for (std::int64_t i = 0; i < n; ++i) other |= !(x[i] > T(0));
  return !other;
}
inline CLONES_512 bool all_positive(const bfloat16* x, std::int64_t n) {
  int other = 0;
  for (std::int64_t i = 0; i < n; ++i)  // as bits they lie above 0 and up to infinity
    other |= std::uint16_t(x[i].bits - 1) >= 0x7f80;
  return !other;
}
template <class M>
CLONES_512 void scale(M* y, const M* x, Compute<M> factor, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) store(y + i, load(x + i) * factor);
}

template <class Op, class T>
T slope_of_ramp(const Scalar* parameters) {
  return [&]<std::size_t... P>(std::index_sequence<P...>) {
    return Op::forward(T(1), parameters[P].template to<T>()...);
  }(std::make_index_sequence<Traits<Op>::parameters>{});
}

template <class Op, class T, PointwiseLoop loop>
void ramp_loop(std::int64_t n, void* const* out, const void* const* in, const Scalar* parameters) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(T);
  const T slope = slope_of_ramp<Op, T>(parameters);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, n - begin);
    const T* x = static_cast<const T*>(in[0]) + begin;
    T* const y = static_cast<T*>(out[0]) + begin;
    const void* const moved_in[] = {x};
    void* const moved_out[] = {y};
    if (all_positive(x, count))
      scale(y, x, slope, count);
    else
      loop(count, moved_out, moved_in, parameters);
  }
}

// Of bfloat16, by the loop for floats.
template <class Op, PointwiseLoop loop>
void bfloat16_ramp_loop(std::int64_t n, void* const* out, const void* const* in,
                        const Scalar* parameters) {
  constexpr std::int64_t kBlock = kBlockBytes / sizeof(float);
  const float slope = slope_of_ramp<Op, float>(parameters);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, n - begin);
    const bfloat16* x = static_cast<const bfloat16*>(in[0]) + begin;
    bfloat16* const y = static_cast<bfloat16*>(out[0]) + begin;
    if (all_positive(x, count)) {
      scale(y, x, slope, count);
      continue;
    }
    alignas(64) float block[kBlock];
    const void* const moved_in[] = {block};
    void* const moved_out[] = {block};
    read_block(BlockType::real32, block, DType::bfloat16, x, 1, count);
    loop(count, moved_out, moved_in, parameters);
    write_block(BlockType::real32, block, DType::bfloat16, y, 1, count);
  }
}

}  // namespace rushlight
