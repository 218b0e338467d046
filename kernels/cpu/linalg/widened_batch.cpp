// As many matrices as a nearby cache holds are widened together, multiplied and narrowed.
#include "widened_batch.h"

#include <algorithm>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "narrow_gemm.h"
#include "strided_matrix.h"

namespace rushlight {
namespace {

// Whether a batch is one run of memory, each matrix in rows or transposed.
bool is_one_run(const View& v) {
  const std::int64_t rows = v.sizes[1], cols = v.sizes[2];
  return v.strides[0] == rows * cols && ((v.strides[2] == 1 && v.strides[1] == cols) ||
                                         (v.strides[1] == 1 && v.strides[2] == rows));
}
}  // namespace

template <class S>
bool widened_batch(const View& left, const View& right, const View& out, float alpha, float beta) {
  const std::int64_t batch = out.sizes[0], m = out.sizes[1], n = out.sizes[2], k = left.sizes[2];
  if (batch < 2 || k == 0 || m * n == 0 || alpha == 0 || beta != 0 || !is_narrow<float>(m, n, k) ||
      !is_one_run(left) || !is_one_run(right) || !is_one_run(out) || out.strides[2] != 1)
    return false;
  constexpr std::int64_t kAtOnce = 8192;  // elements of an operand
  const std::int64_t most = std::max<std::int64_t>(1, kAtOnce / std::max({m * k, k * n, m * n}));
  const ConvertRow widen = row_conversion(DType::float32, dtype_of<S>()),
                   narrow = row_conversion(dtype_of<S>(), DType::float32);
  parallel_for(batch, 1 + kWorthwhile / (m * n * k), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t room = std::min(most, end - begin);
    Scratch<float> a(room * m * k), b(room * k * n), sums(room * m * n);
    for (std::int64_t i = begin; i < end; i += room) {
      const std::int64_t count = std::min(room, end - i);
      widen(a.data(), 1, left.as<S>() + i * m * k, 1, count * m * k);
      widen(b.data(), 1, right.as<S>() + i * k * n, 1, count * k * n);
      for (std::int64_t j = 0; j < count; ++j)
        narrow_gemm<float>({m, n, k}, alpha, a.data() + j * m * k,
                           {left.strides[1], left.strides[2]}, b.data() + j * k * n,
                           {right.strides[1], right.strides[2]}, 0, sums.data() + j * m * n, n);
      narrow(out.as<S>() + i * m * n, 1, sums.data(), 1, count * m * n);
    }
  });
  return true;
}

template bool widened_batch<float16>(const View&, const View&, const View&, float, float);
template bool widened_batch<bfloat16>(const View&, const View&, const View&, float, float);

}  // namespace rushlight
