// The conversions behind blocks.h: ten dtypes times the types of block, each way.
#include "blocks.h"

#include <algorithm>

#include "kernels/cpu/gaps.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/load_as.h"

namespace rushlight {
namespace {

constexpr std::int64_t kTogether = 512, kFew = 16;  // few elements are not worth two steps

template <class B, class S>
CLONES void read_dense(B* block, const S* from, std::int64_t n) {
  if constexpr (std::is_same_v<B, float> && std::is_same_v<S, float16>)
    return widen(block, from, n);
  for (std::int64_t i = 0; i < n; ++i) block[i] = load_as<B>(from + i);
}
template <class B>
CLONES void fill(B* block, B value, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) block[i] = value;
}
// Elements with gaps between them are first brought together as they are, or last taken apart.
template <class B, class S>
void read_row(B* block, const S* from, std::int64_t stride, std::int64_t n) {
  if (stride == 1) return read_dense(block, from, n);
  if (stride == 0) return fill(block, load_as<B>(from), n);
  if (n <= kFew) {
    for (std::int64_t i = 0; i < n; ++i) block[i] = convert<B>(load(from + i * stride));
    return;
  }
  if constexpr (std::is_same_v<B, S> && !std::is_same_v<B, bool>)
    return bring_together(block, from, sizeof(S), stride, n);
  S together[kTogether];
  for (std::int64_t done = 0; done < n; done += kTogether) {
    const std::int64_t count = std::min(kTogether, n - done);
    bring_together(together, from + done * stride, sizeof(S), stride, count);
    read_dense(block + done, together, count);
  }
}
template <class B, class S>
CLONES void write_dense(const B* block, S* to, std::int64_t n) {
  if constexpr (std::is_same_v<B, float> && std::is_same_v<S, float16>) return narrow(to, block, n);
  for (std::int64_t i = 0; i < n; ++i) store(to + i, convert<Compute<S>>(block[i]));
}
template <class B, class S>
void write_row(const B* block, S* to, std::int64_t stride, std::int64_t n) {
  if (stride == 1) return write_dense(block, to, n);
  if (n <= kFew) {
    for (std::int64_t i = 0; i < n; ++i) store(to + i * stride, convert<Compute<S>>(block[i]));
    return;
  }
  if constexpr (std::is_same_v<B, S>) return take_apart(to, sizeof(S), stride, block, n);
  S together[kTogether];
  for (std::int64_t done = 0; done < n; done += kTogether) {
    const std::int64_t count = std::min(kTogether, n - done);
    write_dense(block + done, together, count);
    take_apart(to + done * stride, sizeof(S), stride, together, count);
  }
}

// Calls f(Type<S>{}) for the memory that a block of B meets.
template <class B, class F>
void with_memory(DType dtype, F&& f) {
  if constexpr (std::is_integral_v<B> && !std::is_same_v<B, bool> && sizeof(B) < 8)
    f(Type<B>{});
  else
    dispatch_all(dtype, f);
}

template <class F>
void with_block(BlockType type, F&& f) {
  switch (type) {
    case BlockType::real32: return f(Type<float>{});
    case BlockType::real64: return f(Type<double>{});
    case BlockType::integer: return f(Type<std::int64_t>{});
    case BlockType::uint8: return f(Type<std::uint8_t>{});
    case BlockType::boolean: return f(Type<bool>{});
    case BlockType::int8: return f(Type<std::int8_t>{});
    case BlockType::int16: return f(Type<std::int16_t>{});
    case BlockType::int32: return f(Type<std::int32_t>{});
    case BlockType::bfloat16: return f(Type<std::uint16_t>{});  // its bits
  }
}

}  // namespace

void read_block(BlockType type, void* block, DType dtype, const void* from, std::int64_t stride,
                std::int64_t n) {
  with_block(type, [&]<class B>(Type<B>) {
    with_memory<B>(dtype, [&]<class S>(Type<S>) {
      read_row(static_cast<B*>(block), static_cast<const S*>(from), stride, n);
    });
  });
}

void write_block(BlockType type, const void* block, DType dtype, void* to, std::int64_t stride,
                 std::int64_t n) {
  with_block(type, [&]<class B>(Type<B>) {
    with_memory<B>(dtype, [&]<class S>(Type<S>) {
      write_row(static_cast<const B*>(block), static_cast<S*>(to), stride, n);
    });
  });
}

void fill_block(BlockType type, void* block, const Scalar& scalar, std::int64_t n) {
  if (type == BlockType::bfloat16) {
    bfloat16 rounded;
    store(&rounded, scalar.to<float>());
    return fill(static_cast<std::uint16_t*>(block), rounded.bits, n);
  }
  with_block(type, [&]<class B>(Type<B>) {
    const B value = scalar.to<B>();
    if (n == 1) return void(*static_cast<B*>(block) = value);
    fill(static_cast<B*>(block), value, n);
  });
}

}  // namespace rushlight
