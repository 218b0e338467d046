// Convolution of 64-bit integers, which wrap around as they do in products.
#pragma once
#include "../conv.h"

namespace rushlight::conv {

void integer_forward(const ConvShape& s, const View& input, const View& weight, const View* bias,
                     const View& out);
void integer_grad_input(const ConvShape& s, const View& grad, const View& weight, const View* bias,
                        const View& grad_input);

}  // namespace rushlight::conv
