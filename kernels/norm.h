// Normalisation. input, grad, out: (n, c, plane), contiguous, one floating dtype. weight, bias,
// running and saved statistics: c values (saved ones of group norm: n * groups), contiguous, in the
// dtype that is computed with (float32 for 16-bit inputs).
#pragma once
#include "view.h"

namespace rushlight {

struct NormShape {
  std::int64_t n, c, plane;
  std::int64_t groups = 1;  // group norm only; layer norm is (rows, size, 1) with one group
  bool centered = true;  // group norm only; false: the mean counts as 0, which is rms norm
  bool inside = false;  // group norm on the CPU only: the channels are innermost, (n, plane, c)
};

// Pointers to views may be null: that weight, bias or result is not there.
struct NormKernels {
  // Normalises each channel by its own mean and (biased) variance, which go to `mean` and `invstd`
  // = 1 / sqrt(variance + eps); running = (1 - momentum) * running + momentum * statistic, where
  // the variance is the unbiased one.
  void (*batch_norm)(const NormShape& s, const View& input, const View* weight, const View* bias,
                     const View* running_mean, const View* running_var, double momentum, double eps,
                     const View& mean, const View& invstd, const View& out);
  // invstd = 1 / sqrt(variance + eps)
  void (*inverse_deviation)(const View& variance, double eps, const View& invstd);
  // out = (input - mean) * invstd * weight + bias
  void (*scale_channels)(const NormShape& s, const View& input, const View* weight,
                         const View* bias, const View& mean, const View& invstd, const View& out);
  // `training`: mean and invstd came from the input, so they pass gradient too.
  void (*batch_norm_backward)(const NormShape& s, const View& grad, const View& input,
                              const View* weight, const View& mean, const View& invstd,
                              bool training, const View* grad_input, const View* grad_weight,
                              const View* grad_bias);
  void (*group_norm)(const NormShape& s, const View& input, const View* weight, const View* bias,
                     double eps, const View& mean, const View& invstd, const View& out);
  void (*group_norm_backward)(const NormShape& s, const View& grad, const View& input,
                              const View* weight, const View& mean, const View& invstd,
                              const View* grad_input, const View* grad_weight,
                              const View* grad_bias);
};

extern const NormKernels cpu_norm;

}  // namespace rushlight
