// Normalisations. Statistics and parameters of 16-bit inputs are float32 inside.
#pragma once
#include "ops/ops.h"

namespace rushlight {

using MaybeTensor = std::optional<Tensor>;

// input (n, c, ...); weight, bias and running statistics (c). In training each channel is
// normalised by its own statistics, and the running ones, where given, move by `momentum`.
Tensor batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                  const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training,
                  double momentum, double eps);
// input (n, c, ...), groups of c / num_groups channels normalised together; weight, bias (c)
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const MaybeTensor& weight,
                  const MaybeTensor& bias, double eps);
// Over the last dimensions, of sizes normalized_shape; weight and bias have that shape.
Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const MaybeTensor& weight,
                  const MaybeTensor& bias, double eps);

}  // namespace rushlight
