// Rows of float16 by the processor's own conversions, where it has them, of which gcc makes no
// vectors by itself.
#pragma once
#include "../dtype.h"

namespace rushlight {

void widen(float* to, const float16* from, std::int64_t n);
void narrow(float16* to, const float* from, std::int64_t n);

}  // namespace rushlight
