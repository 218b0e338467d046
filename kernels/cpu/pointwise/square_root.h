// Square roots by multiplications, as the processor's instruction takes twice as long.
#pragma once
#include <cstdint>

namespace rushlight {

// y = sqrt(x), rounded as by that instruction. False where it is not slower: then nothing was done.
bool square_roots(std::int64_t n, const double* x, double* y);
bool square_roots(std::int64_t n, const float* x, float* y);

}  // namespace rushlight
