#pragma once
#include <cstddef>

namespace emulator {

// A launch may touch this many bytes, until it has ended.
void open_shared(std::size_t bytes);
void close_shared();
// Makes them NaN.
void forget_shared(std::size_t bytes);

}  // namespace emulator
