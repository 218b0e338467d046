// Images for networks: the checks of what kernels/pixels.h does.
#include "ops/pixels.h"

#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/pixels.h"
#include "ops/value.h"

namespace rushlight {
namespace {

constexpr double kNanoseconds = 0.2;   // for an element

bool is_plain(const Tensor& x) {
  return x.device().is_cpu() && x.dtype() == DType::float32 && x.is_contiguous();
}
bool is_by_channel(const Tensor& x, std::int64_t channels) {
  return is_plain(x) && x.dim() == 3 && x->shape[0] == channels && x.numel() == channels;
}

}  // namespace

Tensor scaled_pixels(const Tensor& pixels, std::int64_t channels) {
  if (pixels.dim() != 3 || pixels.dtype() != DType::uint8 || !pixels.device().is_cpu() ||
      pixels->shape[2] > 4 || channels < 1 || channels > pixels->shape[2])
    fail<ValueError>("pixels are bytes (height, width, at most 4) on the CPU\n",
                     describe("pixels", pixels), ", channels=", channels);
  const Tensor bytes = contiguous(pixels);
  const Tensor out = empty({channels, bytes->shape[0], bytes->shape[1]}, DType::float32);
  const View from = view_of(bytes), to = view_of(out);
  const Unlocked unlocked(double(out.numel()) * kNanoseconds, {&bytes, &out});
  backend(out.device()).pixels->scale(from, to);
  return out;
}

Tensor normalized_channels(const Tensor& x, const Tensor& mean, const Tensor& std) {
  for (const Tensor* const given : {&mean, &std})
    if (!can_broadcast_to(given->sizes(), x.sizes()))
      fail<RuntimeError>("output with shape ", x.sizes(), " doesn't match the broadcast shape ",
                         text(broadcast(given->sizes(), x.sizes())),
                         "\nmean and std need one value for each channel of the image");
  const std::int64_t channels = x.dim() < 3 ? 0 : x->shape[x.dim() - 3];
  const bool records = may_record() && (wants_grad(x) || wants_grad(mean) || wants_grad(std));
  if (records || !is_plain(x) || !channels || !is_by_channel(mean, channels) ||
      !is_by_channel(std, channels))
    return ((Value(x) - Value(mean)) / Value(std)).tensor();
  const Tensor out = empty(x.shape(), DType::float32);
  const View from = view_of(x), m = view_of(mean), s = view_of(std), to = view_of(out);
  const Unlocked unlocked(double(x.numel()) * kNanoseconds, {&x, &mean, &std, &out});
  backend(out.device()).pixels->normalize(from, m, s, to);
  return out;
}

}  // namespace rushlight
