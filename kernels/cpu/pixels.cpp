// Images for networks. Note: a quotient is IEEE's, as that of the ops one by one.
#include "../pixels.h"

#include <algorithm>
#include <cstring>

#include "../host_device.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

constexpr Index kPiece = 4096;  // pixels whose bytes stay in the cache for all channels

// Channel c of n pixels that are stored in four bytes each.
CLONES void scale_of_four(float* __restrict to, const std::uint8_t* from, int c, Index n) {
  for (Index i = 0; i < n; ++i) {
    std::int32_t pixel;
    std::memcpy(&pixel, from + 4 * i, 4);
    to[i] = float((pixel >> (8 * c)) & 255) / 255.0f;
  }
}
template <int stored>
CLONES void scale_of(float* __restrict to, const std::uint8_t* from, Index n) {
  for (Index i = 0; i < n; ++i) to[i] = float(from[stored * i]) / 255.0f;
}

void scale_channel(float* to, const std::uint8_t* from, int c, Index stored, Index n) {
  switch (stored) {
    case 1: return scale_of<1>(to, from, n);
    case 2: return scale_of<2>(to, from + c, n);
    case 3: return scale_of<3>(to, from + c, n);
    default: return scale_of_four(to, from, c, n);
  }
}

void scale(const View& pixels, const View& out) {
  const Index n = pixels.sizes[0] * pixels.sizes[1], stored = pixels.sizes[2];
  const auto* const from = pixels.as<const std::uint8_t>();
  auto* const to = out.as<float>();
  for (Index first = 0; first < n; first += kPiece)
    for (int c = 0; c < out.sizes[0]; ++c)
      scale_channel(to + c * n + first, from + first * stored, c, stored,
                    std::min(kPiece, n - first));
}

CLONES void normalize_plane(float* __restrict to, const float* __restrict from, float mean,
                            float std, Index n) {
  for (Index i = 0; i < n; ++i) to[i] = (from[i] - mean) / std;
}

void normalize(const View& x, const View& mean, const View& std, const View& out) {
  const Index channels = mean.numel, n = x.sizes[x.rank - 2] * x.sizes[x.rank - 1];
  const auto *const from = x.as<const float>(), *const shift = mean.as<const float>(),
                    *const scale = std.as<const float>();
  auto* const to = out.as<float>();
  for (Index at = 0, plane = 0; at < x.numel; at += n, ++plane)
    normalize_plane(to + at, from + at, shift[plane % channels], scale[plane % channels], n);
}

}  // namespace

const PixelKernels cpu_pixels = {.scale = scale, .normalize = normalize};

}  // namespace rushlight
