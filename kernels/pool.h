// Pooling over the last two dimensions; one dimension is a height of 1.
#pragma once
#include "view.h"

namespace rushlight {

// input (planes, in[0], in[1]), out (planes, result[0], result[1]); the caller computed and checked
// result. Adaptive pooling ignores kernel, stride, padding and dilation: output q covers the
// inputs from floor(q * in / result) to ceil((q + 1) * in / result).
struct PoolShape {
  std::int64_t planes;
  std::int64_t in[2], kernel[2], stride[2], padding[2], dilation[2], result[2];
  bool adaptive = false;
  bool count_include_pad = true;  // average: whether padding counts in the divisor
  std::int64_t divisor = 0;  // average: the divisor itself, where not 0
};

// Views are contiguous and of one floating dtype; `indices` int64, positions in a plane.
struct PoolKernels {
  // A NaN wins, else the first of the largest; on the CPU also of integers. `indices` and `codes`
  // may be null; codes (uint8, the winner as 0..3, an eighth of the size) are for 2x2 windows side
  // by side in float32 only.
  void (*max)(const PoolShape& s, const View& input, const View& out, const View* indices,
              const View* codes);
  // Returns the position of the first index outside its plane, having written nothing, or -1.
  std::int64_t (*max_backward)(const PoolShape& s, const View& grad, const View& indices,
                               const View& grad_input);
  // Its gradient: out[o] = input[indices[o]], in the result's shape. Returns as max_backward.
  std::int64_t (*max_gather)(const PoolShape& s, const View& input, const View& indices,
                             const View& out);
  void (*max_2x2_backward)(const PoolShape& s, const View& grad, const View& codes,
                           const View& grad_input);
  // On the CPU also of int64: the sums are divided as integers.
  void (*average)(const PoolShape& s, const View& input, const View& out);
  void (*average_backward)(const PoolShape& s, const View& grad, const View& grad_input);
};

extern const PoolKernels cpu_pool;

}  // namespace rushlight
