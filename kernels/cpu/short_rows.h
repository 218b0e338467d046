// Many short rows copied and brought together: what broadcast and strided operands of pointwise
// kernels pass through, and what is rearranged.
#pragma once
#include "../dtype.h"

namespace rushlight {

// Up to here a row is moved sooner than a call begins to.
inline constexpr std::int64_t kShortBytes = 512;

// Rows of some bytes; `apart` and `far` are the steps in bytes from row to row.
void copy_rows(char* to, std::int64_t apart, const char* from, std::int64_t far, std::int64_t rows,
               std::int64_t bytes);

// The same with each row backwards: `from` is the last element of the first one, in memory.
void reverse_rows(char* to, std::int64_t apart, const char* from, std::int64_t far,
                  std::int64_t rows, std::int64_t row, DType dtype);

// rows x row elements into dense memory; `far` and `near` are the steps in elements from row to row
// and in a row. Nothing behind the last row is written.
void gather_rows(void* to, const void* from, DType dtype, std::int64_t far, std::int64_t near,
                 std::int64_t rows, std::int64_t row);

}  // namespace rushlight
