// What DataParallel moves between devices, with gradients: one node each, named as torch names it.
// Devices are checked indices of GPUs.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// input [.., n, ..] cut along dim as `chunk` cuts, part i on devices[i]; fewer parts than devices
// where there are not enough rows. All parts are copies, also on the device that input is on.
std::vector<Tensor> scatter(const Tensor& input, const std::vector<int>& devices, std::int64_t dim);

// The parts joined along dim on `device`; 0-d parts become a vector.
Tensor gather_devices(const std::vector<Tensor>& parts, std::int64_t dim, Device device);

// `copies` holds, for each device in turn, the values of all `sources` there. Returns tensors that
// share them and whose gradients are added up in the sources.
std::vector<Tensor> broadcast_from(const std::vector<Tensor>& sources,
                                   const std::vector<Tensor>& copies);

}  // namespace rushlight
