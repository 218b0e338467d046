// Max-pooling of float32 in 2x2 windows side by side, with winners as bytes.
#pragma once
#include <cstdint>

namespace rushlight {

// x (planes, h, w), y and which (planes, h / 2, w / 2). which[] may be null.
void max_pool_2x2(const float* x, std::int64_t planes, std::int64_t h, std::int64_t w, float* y,
                  std::uint8_t* which);
void max_pool_2x2_backward(const float* grad, const std::uint8_t* which, std::int64_t planes,
                           std::int64_t h, std::int64_t w, float* grad_x);

}  // namespace rushlight
