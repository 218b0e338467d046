// Convolutions as conv.cu uses them: cuDNN's, where it is there (cudnn.cpp).
#pragma once
#include "kernels/conv.h"

namespace rushlight::gpu {

// Without a bias. False where the library is absent, switched off, or has nothing for such
// operands: then `out` is still to be computed. Views as ConvKernels has them.
bool convolve_by_library(const ConvShape& s, const View& input, const View& weight,
                         const View& out);
bool convolve_input_by_library(const ConvShape& s, const View& grad, const View& weight,
                               const View& out);
bool convolve_weight_by_library(const ConvShape& s, const View& input, const View& grad,
                                const View& out);

}  // namespace rushlight::gpu
