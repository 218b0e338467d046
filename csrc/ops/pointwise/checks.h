// What a pointwise call may not be: the words for dtypes, targets and overlaps.
#pragma once
#include "pointwise.h"

namespace rushlight {

// The dtype an op computes in; refuses what the op does not take.
DType common_dtype(const PointwiseOp& op, const Input* in, bool on_cuda);
// alpha of add and sub, value of addcmul, bounds of hardtanh.
void check_parameters(const PointwiseOp& op, const Scalar* parameters, DType common);
// The device of all operands. 0-d CPU tensors may meet others, as scalars.
Device common_device(const PointwiseOp& op, const Input* in, Into into);
// A target that may be written: leaves, shape, dtype, overlap with itself.
void check_target(const PointwiseOp& op, Into into, const Shape& shape, DType result, bool records);
// Whether an operand is of a dtype that is only stored, and what then becomes of the call.
bool has_stored(const PointwiseOp& op, const Input* in, const Into& into);
Tensor of_stored(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into);
// RuntimeError where an operand of a difference is a bool.
void check_difference(const PointwiseOp& op, const Input* in, DType common);
// The same of uint16 to uint64 (unsigned.cpp); undefined where torch does not compute with them.
Tensor of_unsigned(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into);
// The same where one is complex (complex.cpp).
Tensor of_complex(const PointwiseOp& op, const Input* in, const Scalar* parameters, Into into);
// Signed integers whose first bit is turned over: in the order of the unsigned ones before.
Tensor with_first_bit_turned(const Tensor& t);
// Writing to `out` while reading `in`: fine if they are the same elements in the same order or
// share none; torch's error if they are not; true if only a copy of `in` makes it safe.
bool needs_copy(const Tensor& out, const Tensor& in);
[[noreturn]] void fail_zero_division(const PointwiseOp& op, std::int64_t position);

}  // namespace rushlight
