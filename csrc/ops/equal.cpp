// Whether two tensors are the same, or nearly so.
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/index.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/value.h"

namespace rushlight {

// What is only stored, in a dtype that can be compared: every number as it is.
static Tensor comparable(const Tensor& t) {
  const DType d = t.dtype();
  if (!is_only_stored(d)) return t;
  if (d == DType::float4_e2m1fn_x2 || d == DType::complex32) refuse_stored("equal_cpu", d);
  if (is_complex(d)) return view_as_real(detach(t));
  if (is_floating(d)) return to(t, DType::float32);
  return to(t, DType::int64);  // uint64 keeps its bits
}

static bool none_differs(const Tensor& input, const Tensor& other) {
  const Tensor differs = apply<Ne>(input, other);
  const View in = view_of(differs);
  const Backend& b = backend(input.device());
  const Unlocked unlocked(time_of_wait(input.device(), double(differs.numel())), {&differs});
  return b.index->count_nonzero(in) == 0;
}

// Most tensors that differ do so near the beginning: parts along the first dimension that can be
// cut, each twice as large as the one before. The first, if it is large, is itself cut.
static bool equal_in_parts(const Tensor& input, const Tensor& other) {
  constexpr std::int64_t kFirst = 1024;
  int dim = 0;
  while (dim + 1 < input.dim() && input->shape[dim] == 1) ++dim;
  if (input.numel() <= kFirst) return none_differs(input, other);
  const std::int64_t size = input->shape[dim];
  std::int64_t part = std::max<std::int64_t>(1, kFirst * size / input.numel()), begin = 0;
  if (size > 1 && input.numel() / size > kFirst) {
    if (!equal_in_parts(narrow(input, dim, 0, 1), narrow(other, dim, 0, 1))) return false;
    begin = 1;
  }
  for (; begin < size; begin += part, part *= 2) {
    part = std::min(part, size - begin);
    if (!none_differs(narrow(input, dim, begin, part), narrow(other, dim, begin, part)))
      return false;
  }
  return true;
}

// The slowest dimension of memory first.
static Tensor in_memory_order(const Tensor& t) {
  int fastest_first[kMaxRank];
  order_by_strides(t.sizes(), &t->strides, 1, fastest_first);
  Shape order;
  for (int d = t.dim() - 1; d >= 0; --d) order.push_back(fastest_first[d]);
  return permute(t, order);
}

// Whether both are the same elements in memory, of a dtype without a NaN.
static bool is_itself(const Tensor& input, const Tensor& other) {
  return &input.storage() == &other.storage() && input.offset() == other.offset() &&
         input.dtype() == other.dtype() && is_integral(input.dtype()) &&
         same(input.strides(), other.strides());
}

bool equal(const Tensor& input, const Tensor& other) {
  check_same_device("equal", input, "input", other, "other");
  if (!same(input.sizes(), other.sizes())) return false;
  if (input.numel() == 0) return true;
  const GradMode off(false);
  report_wait(input.device(), "equal()");
  if (is_only_stored(input.dtype()) || is_only_stored(other.dtype())) [[unlikely]] {
    const DType common = promote_types(input.dtype(), other.dtype());
    return equal(comparable(to(input, common)), comparable(to(other, common)));
  }
  if (!input.device().is_cpu()) return none_differs(input, other);
  if (is_itself(input, other)) return true;
  if (!input.is_contiguous() && same(input.strides(), other.strides()))
    return equal_in_parts(in_memory_order(input), in_memory_order(other));
  return equal_in_parts(input, other);
}

Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (!(rtol >= 0))
    fail<RuntimeError>("rtol must be greater than or equal to zero, but got ", rtol);
  if (!(atol >= 0))
    fail<RuntimeError>("atol must be greater than or equal to zero, but got ", atol);
  if (input.dtype() != other.dtype())
    fail<RuntimeError>(scalar_name(input.dtype()), " did not match ", scalar_name(other.dtype()));
  const bool floating = is_differentiable(input.dtype());
  Value close = Value(input) == Value(other);
  if (equal_nan && floating)
    close = close | (Value(apply<Isnan>(input)) & Value(apply<Isnan>(other)));
  if (rtol == 0 && atol == 0) return close.tensor();
  const Value a = floating ? input : to(input, DType::float64);
  const Value b = floating ? other : to(other, DType::float64);
  const Value difference = abs(a - b);
  return (close | ((difference <= Value(atol) + abs(Value(rtol) * b)) &
                   (difference < Value(kInfinity<double>))))
      .tensor();
}

bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const GradMode off(false);
  return item(all(isclose(input, other, rtol, atol, equal_nan), {}, false)).as_double() != 0;
}

}  // namespace rushlight
