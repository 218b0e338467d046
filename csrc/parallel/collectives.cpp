// See collectives.h. Results follow in the order of each device's stream: nothing waits here.
#include "parallel/collectives.h"

#include "autograd/node.h"
#include "core/cuda.h"
#include "core/unlocked.h"
#include "kernels/collectives.h"

namespace rushlight {
namespace {

struct Group {
  std::vector<int> devices;
  std::vector<StreamId> streams;
  int root = -1;
  const CollectiveKernels* kernels = nullptr;

  // Different GPUs of a provider that can, `target` among them; else `kernels` stays null.
  Group(const std::vector<Device>& all, Device target) {
    for (const Device d : all) {
      if (!d.is_cuda() || std::ranges::find(devices, int(d.index)) != devices.end()) return;
      if (d == target) root = int(devices.size());
      devices.push_back(d.index);
      streams.push_back(current_stream(d.index));
    }
    if (root >= 0 && devices.size() > 1) kernels = cuda_backend().collectives;
  }
  DeviceGroup plain() const { return {int(devices.size()), devices.data(), streams.data(), root}; }
};

bool is_dense(const Tensor& t) { return t.is_contiguous() && t.numel() > 0; }

}  // namespace

std::vector<Tensor> sum_together(std::span<const Tensor> parts, std::size_t jobs, Device target) {
  if (grad_enabled() || jobs == 0 || parts.size() == jobs) return {};
  std::vector<Device> devices;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor &part = parts[i], &first = parts[i % jobs];
    if (!part || !is_floating(part.dtype()) || part.dtype() != first.dtype() ||
        !same(part.sizes(), first.sizes()) || part.numel() == 0)
      return {};
    if (i % jobs == 0) devices.push_back(part.device());
    if (part.device() != devices.back()) return {};
  }
  const Group group(devices, target);
  if (!group.kernels) return {};
  std::vector<Tensor> dense, totals;
  for (const Tensor& part : parts) dense.push_back(contiguous(part));
  std::vector<View> part_views, total_views;
  for (std::size_t j = 0; j < jobs; ++j) {
    totals.push_back(empty(parts[j].shape(), parts[j].dtype(), target));
    total_views.push_back(view_of(totals[j]));
    for (std::size_t i = 0; i < devices.size(); ++i)
      part_views.push_back(view_of(dense[i * jobs + j]));
  }
  const Unlocked unlocked(1e6, {});  // `dense` and `totals` hold them
  if (!group.kernels->reduce(group.plain(), int(jobs), part_views.data(), total_views.data()))
    return {};
  return totals;
}

std::vector<Tensor> sum_parts(const std::vector<Tensor>& parts, std::size_t jobs, Device target) {
  if (jobs == 0 || parts.size() % jobs) fail<ValueError>("as many parts of each sum are needed");
  std::vector<Tensor> sums = sum_together(parts, jobs, target);
  if (!sums.empty()) return sums;
  for (std::size_t j = 0; j < jobs; ++j) {
    Tensor sum = to(parts[j], parts[j].dtype(), target, true);
    for (std::size_t k = j + jobs; k < parts.size(); k += jobs)
      sum = add(sum, to(parts[k], target));
    sums.push_back(std::move(sum));
  }
  return sums;
}

std::vector<Tensor> copy_together(const std::vector<Tensor>& tensors,
                                  const std::vector<Device>& devices) {
  const GradMode off(false);
  std::vector<Tensor> out(tensors.size() * devices.size());
  const auto at = [&](std::size_t device, std::size_t tensor) -> Tensor& {
    return out[device * tensors.size() + tensor];
  };
  std::vector<std::size_t> jobs;  // those that lie where the first of them does
  for (std::size_t t = 0; t < tensors.size(); ++t)
    if (is_floating(tensors[t].dtype()) && is_dense(tensors[t]) &&
        (jobs.empty() || tensors[t].device() == tensors[jobs[0]].device()))
      jobs.push_back(t);
  const Group group(devices, jobs.empty() ? kCpu : tensors[jobs[0]].device());
  if (group.kernels && !jobs.empty()) {
    std::vector<View> sources, copies;
    for (const std::size_t t : jobs) {
      sources.push_back(view_of(tensors[t]));
      for (std::size_t d = 0; d < devices.size(); ++d) {
        const bool is_home = int(d) == group.root;
        at(d, t) = is_home ? tensors[t] : empty(tensors[t].shape(), tensors[t].dtype(), devices[d]);
        copies.push_back(view_of(at(d, t)));
      }
    }
    const Unlocked unlocked(1e6, {});  // `tensors` and `out` hold them
    if (!group.kernels->broadcast(group.plain(), int(jobs.size()), sources.data(), copies.data()))
      for (Tensor& t : out) t = Tensor();
  }
  for (std::size_t d = 0; d < devices.size(); ++d)
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (!at(d, t))
        at(d, t) = tensors[t].device() == devices[d]
                       ? tensors[t]
                       : to(tensors[t], tensors[t].dtype(), devices[d], true);
  return out;
}

}  // namespace rushlight
