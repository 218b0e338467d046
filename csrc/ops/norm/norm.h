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
// input / sqrt(mean of input^2 + eps) * weight over the last dimensions; eps: the smallest number
// that 1 can be told apart from, when not given.
Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const MaybeTensor& weight,
                std::optional<double> eps);

// ---- norm_composed.cpp
// batch_norm of each instance by its own statistics; the running ones, (c), are those of all
// instances on average.
Tensor instance_norm(const Tensor& input, const MaybeTensor& running_mean,
                     const MaybeTensor& running_var, const MaybeTensor& weight,
                     const MaybeTensor& bias, bool use_input_stats, double momentum, double eps);
// input / (k + alpha * mean of input^2 over `size` neighbouring channels)^beta
Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta,
                           double k);

}  // namespace rushlight
