// The blocks behind blocks.h: elements of the block's own dtype are moved, others converted.
#include "blocks.h"

#include <cstring>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/gaps.h"
#include "kernels/stored.h"

namespace rushlight {
namespace {

template <class B>
CLONES void fill(B* block, B value, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) block[i] = value;
}
// Repeats the first element of a block.
void repeat(BlockType type, void* block, std::int64_t n) {
  dispatch_stored_size(kBlockDType[int(type)], [&]<class B>(Type<B>) {
    B* const elements = static_cast<B*>(block);
    fill(elements, *elements, n);
  });
}

// Real numbers as complex ones.
template <class T>
CLONES void pair_with_zero(T* __restrict pairs, const T* __restrict from, std::int64_t stride,
                           std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) pairs[2 * i] = from[i * stride], pairs[2 * i + 1] = T(0);
}

}  // namespace

void read_block(BlockType type, void* block, DType dtype, const void* from, std::int64_t stride,
                std::int64_t n) {
  const DType own = kBlockDType[int(type)];
  const std::size_t item = kBlockItem[int(type)];
  const std::int64_t count = stride == 0 ? 1 : n;
  if (is_complex(own) && dtype != own)
    dispatch_floating(dtype, [&]<class T>(Type<T>) {
      if constexpr (sizeof(T) >= 4)
        pair_with_zero(static_cast<T*>(block), static_cast<const T*>(from), stride, count);
    });
  else if (dtype != own || own == DType::boolean)  // whose bytes become 0 or 1
    row_conversion(own, dtype)(block, 1, from, stride, count);
  else if (stride == 1)
    std::memcpy(block, from, std::size_t(n) * item);
  else
    bring_together(block, from, item, stride, count);
  if (count < n) repeat(type, block, n);
}

void write_block(BlockType type, const void* block, DType dtype, void* to, std::int64_t stride,
                 std::int64_t n) {
  const DType own = kBlockDType[int(type)];
  const std::size_t item = kBlockItem[int(type)];
  if (dtype != own)
    row_conversion(dtype, own)(to, stride, block, 1, n);
  else if (stride == 1)
    std::memcpy(to, block, std::size_t(n) * item);
  else
    take_apart(to, item, stride, block, n);
}

void fill_block(BlockType type, void* block, const Scalar& scalar, std::int64_t n) {
  const DType own = kBlockDType[int(type)];
  if (is_complex(own))
    std::memcpy(block, Element(scalar, own).bytes, kBlockItem[int(type)]);
  else
    dispatch_all(own,
                 [&]<class B>(Type<B>) { store(static_cast<B*>(block), scalar.to<Compute<B>>()); });
  if (n > 1) repeat(type, block, n);
}

}  // namespace rushlight
