// Elements with a fixed gap between them brought together, and taken apart: what strided operands
// of pointwise kernels, casts and reductions pass through, by the size of an element alone.
#pragma once
#include "../dtype.h"

namespace rushlight {

// Elements of `item` bytes (1, 2, 4, 8 or 16); the step counts elements and is none of the dense
// side.
void bring_together(void* to, const void* from, std::size_t item, std::int64_t step,
                    std::int64_t n);
void take_apart(void* to, std::size_t item, std::int64_t step, const void* from, std::int64_t n);

}  // namespace rushlight
