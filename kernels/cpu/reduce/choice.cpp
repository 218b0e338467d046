// Extremes without their indices, and counts, for every dtype.
#include "loops.h"

namespace rushlight::reduction {

bool reduce_choices(Reduction which, Job& job, DType dtype) {
  return reduce_one_of(Choices(), which, job, dtype);
}

template <class T>
Compute<T> extreme_of(bool largest, const T* x, std::int64_t n) {
  if (largest) return dense_run(x, n, ExtremeFold<Compute<T>, true>(Context()));
  return dense_run(x, n, ExtremeFold<Compute<T>, false>(Context()));
}
template std::uint8_t extreme_of(bool, const std::uint8_t*, std::int64_t);
template std::int8_t extreme_of(bool, const std::int8_t*, std::int64_t);
template std::int16_t extreme_of(bool, const std::int16_t*, std::int64_t);
template std::int32_t extreme_of(bool, const std::int32_t*, std::int64_t);
template std::int64_t extreme_of(bool, const std::int64_t*, std::int64_t);
template float extreme_of(bool, const float16*, std::int64_t);
template float extreme_of(bool, const bfloat16*, std::int64_t);
template float extreme_of(bool, const float*, std::int64_t);
template double extreme_of(bool, const double*, std::int64_t);

}  // namespace rushlight::reduction
