// Moves a row of elements between memory of any dtype and stride and a dense block of the type that
// a pointwise loop computes in.
#pragma once
#include "kernels/pointwise.h"

namespace rushlight {

// What a block holds: one per Computes, bool for conditions and comparisons, and bytes, which are
// read from uint8 and written to it only.
enum class BlockType : std::uint8_t { real32, real64, integer, boolean, byte };
inline constexpr std::size_t kBlockItem[] = {4, 8, 8, 1, 1};
constexpr DType kBlockDType[] = {DType::float32, DType::float64, DType::int64, DType::boolean,
                                 DType::uint8};

// stride counts elements of `dtype`; 0 repeats the first one.
void read_block(BlockType type, void* block, DType dtype, const void* from, std::int64_t stride,
                std::int64_t n);
void write_block(BlockType type, const void* block, DType dtype, void* to, std::int64_t stride,
                 std::int64_t n);
void fill_block(BlockType type, void* block, const Scalar& number, std::int64_t n);

}  // namespace rushlight
