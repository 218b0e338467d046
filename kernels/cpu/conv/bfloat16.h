// Convolution of bfloat16 images without widening them, by AVX512-BF16.
#pragma once
#include "plan.h"

namespace rushlight::conv {

// Whether the shape suits, on a processor that multiplies bfloat16.
bool suits_bfloat16(const Correlation& s);
void correlate_bfloat16(const Correlation& s, const bfloat16* x, const bfloat16* w, bfloat16* y);
// Channels innermost in x and y, and a processor with tiles.
bool suits_bfloat16_pixels(const Correlation& s);
void correlate_bfloat16_pixels(const Correlation& s, const bfloat16* x, const bfloat16* w,
                               bfloat16* y);
// Any shape, by a matrix of windows; false where that is not worth it: then nothing was done.
bool windows_bfloat16(const ConvShape& s, const bfloat16* x, const bfloat16* w,
                      const bfloat16* bias, bfloat16* y);

// Two neighbouring elements of a sum, the first in the low half.
using Pair = std::uint32_t;
using PairTile = void (*)(const TileArgsOf<Pair>&);
PairTile pair_tile(Index panels, Index p);  // as Tiles::tile[panels - 1][p - 1] of AVX-512

}  // namespace rushlight::conv
