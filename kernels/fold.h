// Sliding windows of images as columns, and back (im2col, col2im).
#pragma once
#include "view.h"

namespace rushlight {

// image (planes, image...), columns (planes, kernel[0] * kernel[1], windows...): one plane for each
// image and channel. Axes are height and width; the caller computed and checked `windows`.
struct FoldShape {
  using Index = std::int64_t;
  Index planes;
  Index image[2], kernel[2], dilation[2], padding[2], stride[2], windows[2];

  HOST_DEVICE Index plane() const { return image[0] * image[1]; }
  HOST_DEVICE Index column() const { return kernel[0] * kernel[1] * windows[0] * windows[1]; }
  // Where element k of window q lies along an axis; in the padding if outside [0, image).
  HOST_DEVICE Index position(int axis, Index k, Index q) const {
    return q * stride[axis] - padding[axis] + k * dilation[axis];
  }
};

// Views are contiguous and of one dtype.
struct FoldKernels {
  void (*unfold)(const FoldShape& s, const View& image, const View& columns);  // any dtype
  // Elements of several windows are added up, in the order of the kernel; floating and bool.
  void (*fold)(const FoldShape& s, const View& columns, const View& image);
};

extern const FoldKernels cpu_fold;

}  // namespace rushlight
