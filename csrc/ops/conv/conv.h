// Convolutions of one to three dimensions, and their transposes.
#pragma once
#include "ops/ops.h"

namespace rushlight {

struct ConvOptions {
  Shape stride, padding, dilation, output_padding;  // one entry a dimension, or one for all
  std::int64_t groups = 1;
};

// input (n, c, in...), weight (out, c / groups, kernel...), bias (out) -> (n, out, result...),
// result = (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1. An input without n gives
// a result without n. `rank` is the number of dimensions; `name` appears in errors.
Tensor convolution(const char* name, int rank, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, const ConvOptions& options);
// padding = "same" (stride 1) or "valid"
Tensor convolution(const char* name, int rank, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, ConvOptions options,
                   std::string_view padding);
// weight (c, out / groups, kernel...); result = (in - 1) * stride - 2 * padding +
// dilation * (kernel - 1) + output_padding + 1: the shape whose convolution has the input's shape.
Tensor convolution_transpose(const char* name, int rank, const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const ConvOptions& options);

}  // namespace rushlight
