// torch's memory formats: the order of the dimensions in memory, requested or that of an input.
#pragma once
#include <optional>

#include "core/tensor.h"

namespace rushlight {

enum class MemoryFormat { contiguous, preserve, channels_last, channels_last_3d };
using MaybeFormat = std::optional<MemoryFormat>;

// The number of dimensions of a tensor with the channels innermost; 0 of other formats.
int channels_last_rank(const MaybeFormat& format);
// Strides of these sizes, of that rank, with the channels innermost.
Strides channels_last_strides(Sizes sizes, int rank);
// None and preserve: row-major.
Tensor empty_in_format(Sizes sizes, DType dtype, Device device, const MaybeFormat& format);
// None and preserve: in the order of input, on its own device.
Tensor empty_like(const Tensor& input, DType dtype, Device device, const MaybeFormat& format);
// `t` itself if nothing changes.
Tensor in_format(const Tensor& t, const MaybeFormat& format);

// Whether torch takes t, of 4 or 5 dimensions, as channels_last: strides descend as N, (D,) H, W,
// C.
bool is_channels_last(const Tensor& t);
MemoryFormat format_of(const Tensor& t);
// `out`, which is contiguous and without history: copied to channels_last where `like` is.
Tensor in_format_of(const Tensor& like, Tensor out);

// Images (n, c, h, w) as channels_last ones lie in memory: (n, h, w, c), dense, without history.
// Kernels of three dimensions take them as planes of h, w and c.
bool has_channels_inside(const Tensor& image);  // channels_last, and of the CPU
Tensor channels_inside(const Tensor& image);    // of a volume, too
// New memory for an image or a volume, channels_last if that is wanted.
Tensor empty_image(const Shape& sizes, DType dtype, Device device, bool channels_last);

}  // namespace rushlight
