// Elements that lie apart, brought together.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rushlight {

// Copies n elements of `size` bytes (1, 2, 4 or 8), which lie `stride` elements apart, side by
// side.
void take(void* to, const void* from, std::int64_t stride, std::int64_t n, std::size_t size);

}  // namespace rushlight
