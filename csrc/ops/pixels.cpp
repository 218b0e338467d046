// Images for networks. Note: images come from files, so their bytes are the host's; a quotient is
// IEEE's, as that of the ops one by one.
#include "ops/pixels.h"

#include <cstring>

#include "core/unlocked.h"
#include "kernels/host_device.h"
#include "ops/value.h"

namespace rushlight {
namespace {

// Channel c of n pixels that are stored in four bytes each.
CLONES void scale_of_four(float* __restrict to, const std::uint8_t* from, int c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::int32_t pixel;
    std::memcpy(&pixel, from + 4 * i, 4);
    to[i] = float((pixel >> (8 * c)) & 255) / 255.0f;
  }
}
template <int stored>
CLONES void scale_of(float* __restrict to, const std::uint8_t* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = float(from[stored * i]) / 255.0f;
}

void scale_channel(float* to, const std::uint8_t* from, int c, int stored, std::int64_t n) {
  switch (stored) {
    case 1: return scale_of<1>(to, from, n);
    case 2: return scale_of<2>(to, from + c, n);
    case 3: return scale_of<3>(to, from + c, n);
    default: return scale_of_four(to, from, c, n);
  }
}

CLONES void normalize_plane(float* __restrict to, const float* __restrict from, float mean,
                            float std, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = (from[i] - mean) / std;
}

constexpr std::int64_t kPiece = 4096;  // pixels whose bytes stay in the cache for all channels
constexpr double kNanoseconds = 0.2;   // for an element

bool is_plain(const Tensor& x) {
  return x.device().is_cpu() && x.dtype() == DType::float32 && x.is_contiguous();
}

}  // namespace

Tensor scaled_pixels(const Tensor& pixels, std::int64_t channels) {
  if (pixels.dim() != 3 || pixels.dtype() != DType::uint8 || !pixels.device().is_cpu() ||
      pixels->shape[2] > 4 || channels < 1 || channels > pixels->shape[2])
    fail<ValueError>("pixels are bytes (height, width, at most 4) on the CPU\n",
                     describe("pixels", pixels), ", channels=", channels);
  const Tensor bytes = contiguous(pixels);
  const int stored = int(bytes->shape[2]);
  const Tensor out = empty({channels, bytes->shape[0], bytes->shape[1]}, DType::float32);
  const std::int64_t n = bytes->shape[0] * bytes->shape[1];
  const auto* const from = view_of(bytes).as<const std::uint8_t>();
  auto* const to = view_of(out).as<float>();
  const Unlocked unlocked(double(n) * double(channels) * kNanoseconds, {&bytes, &out});
  for (std::int64_t first = 0; first < n; first += kPiece)
    for (int c = 0; c < channels; ++c)
      scale_channel(to + c * n + first, from + first * stored, c, stored,
                    std::min(kPiece, n - first));
  return out;
}

Tensor normalized_channels(const Tensor& x, const Tensor& mean, const Tensor& std) {
  for (const Tensor* const given : {&mean, &std})
    if (!can_broadcast_to(given->sizes(), x.sizes()))
      fail<RuntimeError>("output with shape ", x.sizes(), " doesn't match the broadcast shape ",
                         text(broadcast(given->sizes(), x.sizes())),
                         "\nmean and std need one value for each channel of the image");
  const std::int64_t channels = x.dim() < 3 ? 0 : x->shape[x.dim() - 3];
  const bool records = grad_enabled() && (wants_grad(x) || wants_grad(mean) || wants_grad(std));
  if (records || !is_plain(x) || !is_plain(mean) || !is_plain(std) || !channels ||
      mean.numel() != channels || std.numel() != channels || mean->shape[0] != channels ||
      std->shape[0] != channels)
    return ((Value(x) - Value(mean)) / Value(std)).tensor();
  const Tensor out = empty(x.shape(), DType::float32);
  const std::int64_t n = x->shape[x.dim() - 2] * x->shape[x.dim() - 1];
  const auto* const from = view_of(x).as<const float>();
  const auto *const shift = view_of(mean).as<const float>(), *const scale =
                                                                 view_of(std).as<const float>();
  auto* const to = view_of(out).as<float>();
  const Unlocked unlocked(double(x.numel()) * kNanoseconds, {&x, &mean, &std, &out});
  for (std::int64_t at = 0, plane = 0; at < x.numel(); at += n, ++plane)
    normalize_plane(to + at, from + at, shift[plane % channels], scale[plane % channels], n);
  return out;
}

}  // namespace rushlight
