// torch's channels_last: results that follow the order of their input's memory.
#pragma once
#include "core/tensor.h"

namespace rushlight {

// Whether torch takes t, of 4 or 5 dimensions, as channels_last: strides descend as N, (D,) H, W,
// C.
bool is_channels_last(const Tensor& t);
// `out`, which is contiguous and without history: copied to channels_last where `like` is.
Tensor in_format_of(const Tensor& like, Tensor out);

}  // namespace rushlight
