// The view of an operand whose kernel is told its shape in plain numbers.
#pragma once
#include "core/tensor.h"

namespace rushlight {

// view_of(t), refused unless t is dense and has `numel` elements of `dtype`. An operation checks
// its operands first; while it then makes one of them dense, another thread may give the other
// tensor other data.
View dense_view(const Tensor& t, DType dtype, std::int64_t numel);
View dense_view(const Tensor& t, DType dtype, const Shape& sizes);  // of those sizes
// What to say where such a change is noticed.
[[noreturn]] void fail_changed(const Tensor& t);

}  // namespace rushlight
