// Rows of float16 by the processor's own conversions, of which gcc makes no vectors by itself.
#pragma once
#include "../dtype.h"

namespace rushlight {

// False, and nothing done, where the processor has none.
bool widen(float* to, const float16* from, std::int64_t n);
bool narrow(float16* to, const float* from, std::int64_t n);

}  // namespace rushlight
