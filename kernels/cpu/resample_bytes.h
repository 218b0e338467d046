// Resampling images of bytes along two axes, in whole numbers, as torch rounds them.
#pragma once
#include "../resample.h"

namespace rushlight {

// The axes are those of s, of which one at most is kept; the views are contiguous. Where the last
// one is kept, the first two are resampled; otherwise the last two.
void resample_bytes(const ResampleShape& s, const View& input, const View& out);

}  // namespace rushlight
