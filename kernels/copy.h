// Copies, casts and fills between any strides on one device, and ranges (arange, linspace).
#pragma once
#include <cmath>

#include "view.h"

namespace rushlight {

// Values in equal steps. `computed` is what they are computed in: int64, float64 or float32.
struct Range {
  enum class Kind : std::uint8_t { whole, forward, in_vectors, from_both_ends, powers } kind;
  DType computed;
  std::int64_t count;
  std::int64_t start = 0, by = 0;          // of whole
  double first = 0, last = 0, step = 0;    // of the others
  double base = 0;                         // what is raised to numbers from both ends
  DType each = DType::float32;  // the result's: of both ends, all is rounded to 16 bits
  std::int64_t part = 0;  // of in_vectors: as many numbers as PyTorch has in a thread

  HOST_DEVICE std::int64_t whole(std::int64_t i) const { return start + i * by; }
  template <class C>
  HOST_DEVICE C forward(std::int64_t i) const {
    return C(first) + C(i) * C(step);
  }
  // PyTorch's CPU writes vectors of 32 bytes, and counts the numbers in each from its first one,
  // rounded; those of a part behind the last two whole vectors it counts from `first`.
  static constexpr HOST_DEVICE std::int64_t whole_vectors(std::int64_t n, std::int64_t lanes) {
    return n - n % (2 * lanes);
  }
  template <class C>
  HOST_DEVICE C in_vectors(std::int64_t i) const {
    const std::int64_t lanes = 32 / std::int64_t(item_size(each));
    const std::int64_t begin = i / part * part, n = part < count - begin ? part : count - begin;
    const std::int64_t lane = (i - begin) % lanes;
    if (i - begin >= whole_vectors(n, lanes)) return from_first<C>(i);
    return std::fma(C(lane), C(step), rounded(from_first<C>(i - lane)));
  }
  template <class C>
  HOST_DEVICE C from_first(std::int64_t i) const {
    return std::fma(C(step), C(i), C(first));
  }
  template <class C>
  HOST_DEVICE C rounded(C v) const {
    if (each == DType::float64) return v;
    return is_reduced(each) ? C(round_each(float(v))) : C(float(v));
  }
  template <class C>
  HOST_DEVICE C from_both_ends(std::int64_t i) const {  // the last is exact
    const bool low = i < count / 2;
    const C from = C(low ? first : last), by = low ? C(step) : -C(step);
    const C steps = C(low ? i : count - 1 - i);
    if (is_reduced(each))
      return C(round_each(float(from) + round_each(float(by) * round_each(float(steps)))));
    return std::fma(by, steps, from);
  }
  HOST_DEVICE float round_each(float v) const {
    return each == DType::float16 ? rounded_to<float16>(v) : rounded_to<bfloat16>(v);
  }
  template <class C>
  HOST_DEVICE C power(std::int64_t i) const {
    const C exponent =
        i < count / 2 ? C(first) + C(step) * C(i) : C(last) - C(step) * C(count - 1 - i);
    return C(std::pow(base, double(exponent)));
  }
};

struct CopyKernels {
  // out[i] = convert(in[i]); equal sizes (strides of 0 in `in` broadcast); no overlap.
  void (*copy)(const View& out, const View& in);
  void (*fill)(const View& out, Scalar value);
  void (*range)(const View& out, const Range& range);  // out is dense
  // out[2 i] = a[i], out[2 i + 1] = b[i] for dense tensors of one type; null: by two copies.
  void (*interleave)(const View& out, const View& a, const View& b);
};
extern const CopyKernels cpu_copy;

}  // namespace rushlight
