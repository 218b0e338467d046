// Transposing matrices of any element, in registers, a line of the cache at a time.
#pragma once
#include <cstdint>

namespace rushlight {

// dst[c * ldd + r] = src[r * lds + c], for float, double and the unsigned integers, by which
// elements of other types of their size are moved.
template <class S>
void transpose(const S* src, std::int64_t lds, std::int64_t rows, std::int64_t cols, S* dst,
               std::int64_t ldd);

}  // namespace rushlight
