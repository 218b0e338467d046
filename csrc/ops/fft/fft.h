// Discrete Fourier transforms: torch.fft, stft() and istft().
#pragma once
#include <optional>
#include <string_view>

#include "ops/ops.h"

namespace rushlight {

using OptionalSize = std::optional<std::int64_t>;
using OptionalSizes = std::optional<Shape>;
using OptionalText = std::optional<std::string_view>;

// ---- along dimensions that were checked (fft.cpp)
// What is transformed: distinct dimensions of the input, each as long as n says, at least 1. What
// the input lacks counts as 0; it has no more. `inverse`: the sign of the exponent.
struct FftPlan {
  Shape dims, n;
  bool inverse = false;
  double scale = 1;
  bool weighted = false;  // kernels/fft.h
};
Tensor fft_complex(const Tensor& input, const FftPlan& plan);  // of complex or real numbers
Tensor fft_to_half(const Tensor& input, const FftPlan& plan);  // the last dimension's first half
Tensor fft_from_half(const Tensor& input, const FftPlan& plan);

// ---- torch.fft (transforms.cpp)
Tensor fft_fft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_ifft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_rfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_irfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_hfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_ihfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm);
Tensor fft_fftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                OptionalText norm);
Tensor fft_ifftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm);
Tensor fft_rfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm);
Tensor fft_irfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                  OptionalText norm);
Tensor fft_hfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm);
Tensor fft_ihfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                  OptionalText norm);

}  // namespace rushlight
