// Convolution of bfloat16 images without widening them.
#pragma once
#include "plan.h"

namespace rushlight::conv {

// y [n][out][out_size] = x [n][c][in] correlated with w, whose strides are given; a stride of 1 and
// one group. flipped: the taps in reversed order, as in the gradient of the input. inside: the
// channels of x and y lie innermost.
struct Planes {
  Index n, c, out;
  Index in[2], out_size[2], kernel[2], padding[2], dilation[2];  // padding: negative is refused
  Index w_out, w_in;
  bool flipped, inside;
};
// False where the processor lacks the instructions or the shape does not suit: nothing was done.
bool correlate_bfloat16(const Planes& s, const bfloat16* x, const bfloat16* w, const bfloat16* bias,
                        bfloat16* y);

}  // namespace rushlight::conv
