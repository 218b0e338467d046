// Non-maximum suppression. Note: which box is dropped depends on all before it, so the host does
// it, for boxes on a GPU as well, whose result waits for the device anyway.
#include "ops/boxes.h"

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/parallel.h"
#include "ops/sort/sort.h"

namespace rushlight {
namespace {

template <class T>
std::vector<std::int64_t> kept(const T* boxes, const std::int64_t* order, std::int64_t n,
                               double threshold) {
  std::vector<std::int64_t> out;
  std::vector<char> gone(static_cast<std::size_t>(n));
  const auto area = [](const T* b) { return (b[2] - b[0]) * (b[3] - b[1]); };
  for (std::int64_t i = 0; i < n; ++i) {
    if (gone[std::size_t(i)]) continue;
    check_interrupt();
    const T* const a = boxes + 4 * order[i];
    out.push_back(order[i]);
    for (std::int64_t j = i + 1; j < n; ++j) {
      const T* const b = boxes + 4 * order[j];
      const T width = std::max(T(0), std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T height = std::max(T(0), std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T both = width * height;
      gone[std::size_t(j)] |= both / (area(a) + area(b) - both) > threshold;
    }
  }
  return out;
}

}  // namespace

Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  const GradMode off(false);
  if (boxes.dim() != 2)
    fail<RuntimeError>("boxes should be a 2d tensor, got ", boxes.dim(), "D\n",
                       describe("boxes", boxes));
  if (boxes->shape[1] != 4)
    fail<RuntimeError>("boxes should have 4 elements in dimension 1, got ", boxes->shape[1], "\n",
                       describe("boxes", boxes));
  if (scores.dim() != 1)
    fail<RuntimeError>("scores should be a 1d tensor, got ", scores.dim(), "D\n",
                       describe("scores", scores));
  if (boxes->shape[0] != scores->shape[0])
    fail<RuntimeError>("boxes and scores should have same number of elements in dimension 0, got ",
                       boxes->shape[0], " and ", scores->shape[0]);
  check_same_device("nms", boxes, "boxes", scores, "scores");
  if (!is_floating(boxes.dtype()))
    fail<NotImplementedError>("\"nms_kernel\" not implemented for '", scalar_name(boxes.dtype()),
                              "'\n", describe("boxes", boxes), ": convert them with .float()");
  report_wait(boxes.device(), "nms()");
  const DType dtype = boxes.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const Tensor held = detach(scores);  // whose sizes no other thread changes
  const Tensor host = contiguous(to(detach(boxes), dtype, kCpu));
  const Tensor order = contiguous(argsort(to(held, kCpu), 0, true));
  const std::int64_t n = order.numel();
  const View corners = dense_view(host, dtype, 4 * n), ranks = view_of(order);
  std::vector<std::int64_t> found;
  {
    const Unlocked unlocked(double(n) * double(n), {&host, &order});
    const auto* at = ranks.as<const std::int64_t>();
    found = dtype == DType::float64 ? kept(corners.as<const double>(), at, n, iou_threshold)
                                    : kept(corners.as<const float>(), at, n, iou_threshold);
  }
  const Tensor out = empty({std::int64_t(found.size())}, DType::int64);
  std::copy(found.begin(), found.end(), view_of(out).as<std::int64_t>());
  return to(out, boxes.device());
}

}  // namespace rushlight
