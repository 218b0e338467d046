// A call of a pointwise op as a device gets it, and the table of kernels that a device provides.
// What an op's struct says is in pointwise/traits.h: this file knows no op.
#pragma once
#include "view.h"

namespace rushlight {

inline constexpr int kMaxInputs = 3, kMaxSaved = 4, kMaxParameters = 3;

// What a kernel computes in, whatever the memory holds: all integers and bool as 64 bits.
enum class Computes : std::uint8_t { real32, real64, integer };
constexpr Computes computes(DType d, bool in_double) {
  if (!is_floating(d)) return Computes::integer;
  return in_double || d == DType::float64 ? Computes::real64 : Computes::real32;
}

// One operand of a call. Any dtype: it is converted on the way. Strides are in elements, 0 along a
// broadcast dimension. A scalar is an operand too: `data` points to a Scalar and there are no
// strides, so 2 * x makes no tensor. A result that is not needed has no data.
struct Operand {
  void* data;
  const std::int64_t* strides;
  DType dtype;
  bool is_scalar() const { return !strides; }
};

// Borrowed, checked by the caller: shapes agree, every element is inside its storage, and `out`
// overlaps an input not at all or element by element. csrc has merged dense dimensions: rank is
// then 1. rank is never 0.
struct PointwiseCall {
  Computes computes;
  int rank;
  std::int64_t numel;
  const std::int64_t* sizes;
  Operand out[kMaxInputs];  // forward: the result. backward: gradients, no data if not wanted
  Operand in[kMaxSaved + 1];  // forward: the inputs. backward: g, then what was saved
  const Scalar* parameters;
};

// What a device computes of pairs as they lie, beside what csrc makes of their parts: a + alpha b,
// a b, a / b, either of these with the conjugate of b, and of one number its size, its conjugate
// and z / |z|.
enum class ComplexFormula : std::uint8_t {
  sum,
  product,
  quotient,
  conjugate_product,
  conjugate_quotient,
  size,
  conjugate,
  unit
};
inline constexpr int kComplexFormulas = 8;

// Backend::pointwise. `op` is the index of the struct in PointwiseOps. forward() returns the linear
// position of an integer divisor that is zero, before anything is written; else -1.
struct PointwiseKernels {
  std::int64_t (*forward)(int op, const PointwiseCall&);
  void (*backward)(int op, const PointwiseCall&);
  // Null where the device has none. Operands are complex numbers of one dtype, or real ones of its
  // parts' dtype; `computes` is that of the parts.
  void (*complex)(ComplexFormula f, const PointwiseCall&);
};
extern const PointwiseKernels cpu_pointwise;

}  // namespace rushlight
