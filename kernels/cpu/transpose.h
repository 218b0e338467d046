// Transposing blocks of float memory, in registers eight by eight.
#pragma once
#include <cstdint>

namespace rushlight {

// dst[c * ldd + r] = src[r * lds + c]
void transpose(const float* src, std::int64_t lds, std::int64_t rows, std::int64_t cols, float* dst,
               std::int64_t ldd);

}  // namespace rushlight
