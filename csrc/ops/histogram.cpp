// Counts: of integers, and of values in equal parts of a range; no gradients.
#include <cmath>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/sort.h"
#include "ops/reduce/reduce.h"
#include "ops/sort/sort.h"

namespace rushlight {

Tensor bincount(const Tensor& input, const Tensor& weights, std::int64_t minlength) {
  const GradMode off(false);
  if (minlength < 0) fail<RuntimeError>("minlength should be >= 0\ngot ", minlength);
  if (is_floating(input.dtype()) || input.dtype() == DType::boolean)
    fail<NotImplementedError>("\"bincount_cpu\" not implemented for '", scalar_name(input.dtype()),
                              "'\n", describe("input", input));
  std::int64_t low = 0, top = -1;
  if (input.dim() == 1 && input.numel()) {
    const auto [least, most] = aminmax(input, {}, false);
    low = item(least).as_int(), top = item(most).as_int();
  }
  if (input.dim() != 1 || low < 0)
    fail<RuntimeError>("bincount only supports 1-d non-negative integral inputs.\n",
                       describe("input", input));
  if (weights && !same(weights.sizes(), input.sizes()))
    fail<RuntimeError>("weights should be 1-d and have the same length as input\n",
                       describe("weights", weights), ", ", describe("input", input));
  if (weights) check_same_device("bincount", input, "input", weights, "weights");
  const std::int64_t bins = std::max(minlength, checked_add(top, 1));
  const DType d = !weights                            ? DType::int64
                  : weights.dtype() == DType::float32 ? DType::float32
                                                      : DType::float64;
  Tensor out = zeros({bins}, d, input.device());
  if (input.numel() == 0) return out;
  const DType counted = input.dtype() == DType::int32 ? DType::int32 : DType::int64;
  const Tensor values = to(input, counted), amounts = weights ? to(weights, d) : weights;
  const View to_view = view_of(out), from = view_of(values);
  View by{};
  if (amounts) by = view_of(amounts);
  // All of them could be changed by another thread while the largest value was looked for.
  if (from.dtype != counted || from.rank != 1) fail_changed(values);
  if (amounts && (by.dtype != d || by.rank != 1 || by.numel != from.numel)) fail_changed(amounts);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()), {&out, &values, &amounts});
  b.sort->count(to_view, from, amounts ? &by : nullptr);
  return out;
}

Tensor histc(const Tensor& given, std::int64_t bins, double min, double max) {
  const Tensor input = detach(given);  // whose sizes no other thread changes
  const GradMode off(false);
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"histogram_cpu\" not implemented for '", scalar_name(input.dtype()),
                              "'\n", describe("input", input));
  if (bins <= 0) fail<RuntimeError>("torch.histc(): bins must be > 0, but got ", bins);
  if (input.device().is_meta()) return empty({bins}, input.dtype(), input.device());
  if (min == max && input.numel()) {
    min = item(amin(input, {}, false)).as_double();
    max = item(amax(input, {}, false)).as_double();
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  if (!std::isfinite(min) || !std::isfinite(max))
    fail<RuntimeError>("torch.histc: range of [", min, ", ", max, "] is not finite");
  if (!(min < max)) fail<RuntimeError>("torch.histc: max must be larger than min");
  Tensor out = zeros({bins}, input.dtype(), input.device());
  if (input.numel() == 0) return out;
  const Tensor flat = reshape(input, Shape{-1});
  const View to_view = view_of(out), from = view_of(flat);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()) * 2, {&out, &flat});
  b.sort->histogram(to_view, from, min, max);
  return out;
}

}  // namespace rushlight
