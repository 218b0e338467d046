// Convolution (cross-correlation, as torch has it) over one to three dimensions.
#pragma once
#include "view.h"

namespace rushlight {

// input (n, c, in...), weight (out, c / groups, kernel...), result (n, out, result...). The three
// entries are depth, height, width; a convolution of fewer dimensions has 1 in front (kernel 1,
// stride 1, no padding). result = (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1
// was computed and checked by the caller. c and out are multiples of groups.
struct ConvShape {
  std::int64_t n, c, out, groups;
  std::int64_t in[3], kernel[3], stride[3], padding[3], dilation[3], result[3];
  // In two or three dimensions, where the kernels take it: channels lie innermost in input and
  // result.
  bool inside = false;
};

// Every view is contiguous and of one floating dtype, on the CPU also of integers; none is empty.
// `bias` may be null.
struct ConvKernels {
  void (*forward)(const ConvShape& s, const View& input, const View& weight, const View* bias,
                  const View& out);
  // grad has the result's shape, grad_input the input's. With a bias (c values) this is also the
  // forward of transposed convolution.
  void (*grad_input)(const ConvShape& s, const View& grad, const View& weight, const View* bias,
                     const View& grad_input);
  void (*grad_weight)(const ConvShape& s, const View& input, const View& grad,
                      const View& grad_weight);
  bool (*takes_inside)(const ConvShape& s, DType dtype) = nullptr;
  // A 1x1 convolution with a stride is faster on a copy of the pixels that it reads.
  bool wants_pixels_copied = false;
};

extern const ConvKernels cpu_conv;

}  // namespace rushlight
