// What lies between an image and a network: bytes to floats, and channels to mean 0. The host's
// alone, as images come from files.
#pragma once
#include "view.h"

namespace rushlight {

struct PixelKernels {
  // Bytes (height, width, stored), at most 4 stored, as floats (channels, height, width) in [0, 1]:
  // each byte / 255. Views are contiguous.
  void (*scale)(const View& pixels, const View& out);
  // (x - mean) / std, of contiguous floats (..., channels, height, width); mean and std have one
  // value for each channel.
  void (*normalize)(const View& x, const View& mean, const View& std, const View& out);
};

extern const PixelKernels cpu_pixels;

}  // namespace rushlight
