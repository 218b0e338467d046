// Many short rows brought together: what broadcast and strided operands of pointwise kernels pass
// through.
#pragma once
#include "../dtype.h"

namespace rushlight {

// rows x row elements into dense memory; `far` and `near` are the steps in elements from row to row
// and in a row. Nothing behind the last row is written.
void gather_rows(void* to, const void* from, DType dtype, std::int64_t far, std::int64_t near,
                 std::int64_t rows, std::int64_t row);

}  // namespace rushlight
