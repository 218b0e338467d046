// gcc 12 vectorises neither the byte codes nor the interleaved stores by itself, hence the vectors.
// Note: the tail's four plain stores stay plain; a clever one was miscompiled.
#include "windows_2x2.h"

#include <algorithm>

#include "kernels/host_device.h"

namespace rushlight {
namespace {

using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
using Ints = int __attribute__((vector_size(32), aligned(4), may_alias));
using Bytes = signed char __attribute__((vector_size(8), aligned(1), may_alias));
constexpr std::int64_t kLanes = 8;

[[gnu::always_inline]] inline const Floats& at(const float* p) {
  return *reinterpret_cast<const Floats*>(p);
}
[[gnu::always_inline]] inline Floats& at(float* p) { return *reinterpret_cast<Floats*>(p); }

template <bool kCodes>
CLONES void forward(const float* x, std::int64_t planes, std::int64_t h, std::int64_t w, float* y,
                    std::uint8_t* which) {
  const Ints even = {0, 2, 4, 6, 8, 10, 12, 14}, odd = {1, 3, 5, 7, 9, 11, 13, 15};
  const std::int64_t oh = h / 2, ow = w / 2;
  for (std::int64_t p = 0; p < planes; ++p, x += h * w)
    for (std::int64_t i = 0; i < oh; ++i) {
      const float *top = x + 2 * i * w, *low = top + w;
      std::int64_t j = 0;
      for (; j + kLanes <= ow; j += kLanes) {
        const Floats a = at(top + 2 * j), b = at(top + 2 * j + kLanes);
        const Floats c = at(low + 2 * j), d = at(low + 2 * j + kLanes);
        Floats best = __builtin_shuffle(a, b, even);
        Ints code = {};
        const Floats others[] = {__builtin_shuffle(a, b, odd), __builtin_shuffle(c, d, even),
                                 __builtin_shuffle(c, d, odd)};
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
          const Ints wins = (others[k] > best) | (others[k] != others[k]);
          best = wins ? others[k] : best;
          code = wins ? Ints{} + (k + 1) : code;
        }
        at(y + j) = best;
        if constexpr (kCodes)
          *reinterpret_cast<Bytes*>(which + j) = __builtin_convertvector(code, Bytes);
      }
      for (; j < ow; ++j) {
        const float v[] = {top[2 * j], top[2 * j + 1], low[2 * j], low[2 * j + 1]};
        std::uint8_t k = 0;
        for (std::uint8_t m = 1; m < 4; ++m)
          if (v[m] > v[k] || v[m] != v[m]) k = m;
        y[j] = v[k];
        if constexpr (kCodes) which[j] = k;
      }
      y += ow;
      if constexpr (kCodes) which += ow;
    }
}

CLONES void backward(const float* grad, const std::uint8_t* which, std::int64_t planes,
                     std::int64_t h, std::int64_t w, float* grad_x) {
  const Ints lo = {0, 8, 1, 9, 2, 10, 3, 11}, hi = {4, 12, 5, 13, 6, 14, 7, 15};
  const std::int64_t oh = h / 2, ow = w / 2;
  if (h % 2 || w % 2) std::fill(grad_x, grad_x + planes * h * w, 0.f);
  for (std::int64_t p = 0; p < planes; ++p, grad_x += h * w)
    for (std::int64_t i = 0; i < oh; ++i, grad += ow, which += ow) {
      float *top = grad_x + 2 * i * w, *low = top + w;
      std::int64_t j = 0;
      for (; j + kLanes <= ow; j += kLanes) {
        const Ints code = __builtin_convertvector(*reinterpret_cast<const Bytes*>(which + j), Ints);
        const Floats g = at(grad + j), zero = {};
        const Floats a = code == 0 ? g : zero, b = code == 1 ? g : zero;
        const Floats c = code == 2 ? g : zero, d = code == 3 ? g : zero;
        at(top + 2 * j) = __builtin_shuffle(a, b, lo);
        at(top + 2 * j + kLanes) = __builtin_shuffle(a, b, hi);
        at(low + 2 * j) = __builtin_shuffle(c, d, lo);
        at(low + 2 * j + kLanes) = __builtin_shuffle(c, d, hi);
      }
      for (; j < ow; ++j) {
        top[2 * j] = which[j] == 0 ? grad[j] : 0.f;
        top[2 * j + 1] = which[j] == 1 ? grad[j] : 0.f;
        low[2 * j] = which[j] == 2 ? grad[j] : 0.f;
        low[2 * j + 1] = which[j] == 3 ? grad[j] : 0.f;
      }
    }
}

}  // namespace

void max_pool_2x2(const float* x, std::int64_t planes, std::int64_t h, std::int64_t w, float* y,
                  std::uint8_t* which) {
  if (which)
    forward<true>(x, planes, h, w, y, which);
  else
    forward<false>(x, planes, h, w, y, nullptr);
}

void max_pool_2x2_backward(const float* grad, const std::uint8_t* which, std::int64_t planes,
                           std::int64_t h, std::int64_t w, float* grad_x) {
  backward(grad, which, planes, h, w, grad_x);
}

}  // namespace rushlight
