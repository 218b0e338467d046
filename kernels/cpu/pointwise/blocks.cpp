// The blocks behind blocks.h: elements of the block's own dtype are moved, others converted.
#include "blocks.h"

#include <cstring>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/gaps.h"

namespace rushlight {
namespace {

template <class B>
CLONES void fill(B* block, B value, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) block[i] = value;
}
// Repeats the first element of a block.
void repeat(BlockType type, void* block, std::int64_t n) {
  dispatch_size(kBlockDType[int(type)], [&]<class B>(Type<B>) {
    B* const elements = static_cast<B*>(block);
    fill(elements, *elements, n);
  });
}

template <class F>
void with_number(BlockType type, F&& f) {
  switch (type) {
    case BlockType::real32: return f(Type<float>{});
    case BlockType::real64: return f(Type<double>{});
    case BlockType::integer: return f(Type<std::int64_t>{});
    case BlockType::uint8: return f(Type<std::uint8_t>{});
    case BlockType::boolean: return f(Type<bool>{});
    case BlockType::int8: return f(Type<std::int8_t>{});
    case BlockType::int16: return f(Type<std::int16_t>{});
    case BlockType::int32: return f(Type<std::int32_t>{});
    case BlockType::bfloat16: return f(Type<bfloat16>{});
  }
}

}  // namespace

void read_block(BlockType type, void* block, DType dtype, const void* from, std::int64_t stride,
                std::int64_t n) {
  const DType own = kBlockDType[int(type)];
  const std::size_t item = kBlockItem[int(type)];
  const std::int64_t count = stride == 0 ? 1 : n;
  if (dtype != own || own == DType::boolean)  // whose bytes become 0 or 1
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
  with_number(type,
              [&]<class B>(Type<B>) { store(static_cast<B*>(block), scalar.to<Compute<B>>()); });
  if (n > 1) repeat(type, block, n);
}

}  // namespace rushlight
