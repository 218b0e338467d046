// Moves a row of elements between memory of any dtype and stride and a dense block of the type that
// a pointwise loop computes in.
#pragma once
#include "kernels/pointwise.h"

namespace rushlight {

inline constexpr int kBlockBytes = 4096;  // of a block of one operand on the stack

// out[k] and in[i] point to n elements: bool where the op says so, else the loop's type.
using PointwiseLoop = void (*)(std::int64_t n, void* const* out, const void* const* in,
                               const Scalar* parameters);

// What a block holds: one per Computes, then kSmallTypes, bool also for conditions and comparisons.
// Numbers of a small type are read from that type and written to it only.
enum class BlockType : std::uint8_t {
  real32,
  real64,
  integer,
  uint8,
  boolean,
  int8,
  int16,
  int32,
  bfloat16,
  complex64,
  complex128
};
inline constexpr int kBlockTypes = 11;
inline constexpr std::size_t kBlockItem[] = {4, 8, 8, 1, 1, 1, 2, 4, 2, 8, 16};
constexpr DType kBlockDType[] = {DType::float32,  DType::float64,   DType::int64,     DType::uint8,
                                 DType::boolean,  DType::int8,      DType::int16,     DType::int32,
                                 DType::bfloat16, DType::complex64, DType::complex128};

// stride counts elements of `dtype`; 0 repeats the first one. A block of complex numbers also takes
// real ones of its parts' dtype.
void read_block(BlockType type, void* block, DType dtype, const void* from, std::int64_t stride,
                std::int64_t n);
void write_block(BlockType type, const void* block, DType dtype, void* to, std::int64_t stride,
                 std::int64_t n);
void fill_block(BlockType type, void* block, const Scalar& scalar, std::int64_t n);

}  // namespace rushlight
