// Backward of each is written with ops, so it can be differentiated again.
#include "parallel/parallel.h"

#include "parallel/collectives.h"

namespace rushlight {

std::vector<Tensor> scatter(const Tensor& input, const std::vector<int>& devices,
                            std::int64_t dim) {
  if (devices.empty()) fail<ValueError>("scatter needs at least one device");
  const int d = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts;
  std::vector<std::int64_t> lengths;
  {
    const GradMode off(false);
    parts = chunk(input, std::int64_t(devices.size()), d);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      lengths.push_back(parts[i].size(d));
      const Device device{DeviceType::cuda, std::int8_t(devices[i])};
      // Dense, as kernels like it best; a single part that is there already is the input itself.
      if (parts[i].device() != device)
        parts[i] = to(contiguous(parts[i]), device);
      else
        parts[i] = parts.size() == 1 ? alias(input) : clone(parts[i]);
    }
  }
  record_many(
      "ScatterBackward", std::span(parts),
      [shape = input.shape(), dtype = input.dtype(), device = input.device(), d, lengths](
          std::span<Tensor> grads, Node&) {
        std::vector<Tensor> joined;
        for (std::size_t i = 0; i < grads.size(); ++i) {
          Shape part = shape;
          part[d] = lengths[i];
          joined.push_back(grads[i] ? to(grads[i], device) : zeros(part, dtype, device));
        }
        return Gradients(joined.size() == 1 ? joined[0] : cat(joined, d));
      },
      input);
  return parts;
}

Tensor gather_devices(const std::vector<Tensor>& parts, std::int64_t dim, Device device) {
  if (parts.empty()) fail<ValueError>("gather needs at least one tensor");
  const bool scalars = std::ranges::all_of(parts, [](const Tensor& t) { return t.dim() == 0; });
  const int d = wrap_dim(dim, scalars ? 1 : parts[0].dim());
  std::vector<Tensor> here;
  std::vector<std::int64_t> lengths;
  std::vector<Device> devices;
  Tensor out;
  {
    const GradMode off(false);
    for (const Tensor& part : parts) {
      const Tensor t = to(scalars ? unsqueeze(part, 0) : part, device);
      lengths.push_back(t.dim() > d ? t.size(d) : 0);
      devices.push_back(part.device());
      here.push_back(t);
    }
    out = cat(here, d);
  }
  return record(
      "GatherBackward", std::move(out),
      [lengths, devices, scalars, d](Tensor g) {
        std::vector<Tensor> grads;
        std::int64_t start = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          Tensor part = to(narrow(g, d, start, lengths[i]), devices[i]);
          grads.push_back(scalars ? select(part, 0, 0) : part);
          start += lengths[i];
        }
        return Gradients(std::move(grads));
      },
      parts);
}

std::vector<Tensor> broadcast_from(const std::vector<Tensor>& sources,
                                   const std::vector<Tensor>& copies) {
  if (sources.empty() || copies.size() % sources.size())
    fail<ValueError>("broadcast: ", copies.size(), " values for ", sources.size(), " tensors");
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Tensor& source = sources[i % sources.size()];
    if (!same(copies[i].sizes(), source.sizes()) || copies[i].dtype() != source.dtype())
      fail<ValueError>("broadcast: ", describe("value", copies[i]), " is no copy of ",
                       describe("source", source));
    out.push_back(alias(copies[i]));
  }
  std::vector<Device> source_devices;
  for (const Tensor& t : sources) source_devices.push_back(t.device());
  record_many(
      "BroadcastBackward", std::span(out),
      [source_devices](std::span<Tensor> grads, Node& self) {
        // On real GPUs with one launch, where all gradients are summed on one device.
        const bool in_one =
            std::ranges::all_of(source_devices, [&](Device d) { return d == source_devices[0]; });
        if (in_one)
          if (std::vector<Tensor> sums =
                  sum_together(grads, source_devices.size(), source_devices[0]);
              !sums.empty())
            return Gradients(std::move(sums));
        std::vector<Tensor> sums(source_devices.size());
        for (std::size_t i = 0; i < grads.size(); ++i) {
          const std::size_t k = i % source_devices.size();
          if (!grads[i] || !self.needs_input(k)) continue;
          Tensor g = to(grads[i], source_devices[k]);
          sums[k] = sums[k] ? add(sums[k], g) : std::move(g);
        }
        return Gradients(std::move(sums));
      },
      sources);
  return out;
}

}  // namespace rushlight
