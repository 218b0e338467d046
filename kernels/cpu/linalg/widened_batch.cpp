// As many matrices as a nearby cache holds are widened together, multiplied and narrowed.
#include "widened_batch.h"

#include <algorithm>

#include "gemm.h"
#include "kernels/copy.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "strided_matrix.h"

namespace rushlight {
namespace {

// Whether a batch is one run of memory, each matrix in rows or transposed.
bool is_one_run(const View& v) {
  const std::int64_t rows = v.sizes[1], cols = v.sizes[2];
  return v.strides[0] == rows * cols && ((v.strides[2] == 1 && v.strides[1] == cols) ||
                                         (v.strides[1] == 1 && v.strides[2] == rows));
}
Matrix<const float> matrix_of(const View& v, const float* data) {  // of one run
  const bool in_rows = v.strides[2] == 1 && v.strides[1] == v.sizes[2];
  return {data, v.sizes[in_rows ? 2 : 1], !in_rows};
}

View dense_copy(View v, void* to) {
  const View from = v;
  v.data = to;
  for (std::int64_t d = v.rank - 1, step = 1; d >= 0; step *= v.sizes[d--]) v.strides[d] = step;
  cpu_copy.copy(v, from);
  return v;
}

}  // namespace

template <class S>
bool widened_batch(const View& left, const View& right, const View& out, float alpha, float beta) {
  // Of bfloat16 there may be instructions for larger ones.
  constexpr std::int64_t kMost = std::is_same_v<S, bfloat16> ? 20000 : 131072;  // products
  const std::int64_t batch = out.sizes[0], m = out.sizes[1], n = out.sizes[2], k = left.sizes[2];
  if (batch < 2 || k == 0 || m * n == 0 || alpha == 0 || beta != 0 || std::max({m, n, k}) > kMost ||
      m * n * k > kMost || !is_one_run(out) || out.strides[2] != 1)
    return false;
  if (!is_one_run(left) || !is_one_run(right)) {
    Scratch<S> copies[] = {Scratch<S>(std::size_t(batch * m * k)),
                           Scratch<S>(std::size_t(batch * k * n))};
    return widened_batch<S>(dense_copy(left, copies[0].data()), dense_copy(right, copies[1].data()),
                            out, alpha, beta);
  }
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
        gemm<float>(m, n, k, alpha, matrix_of(left, a.data() + j * m * k),
                    matrix_of(right, b.data() + j * k * n), 0, {sums.data() + j * m * n, n});
      narrow(out.as<S>() + i * m * n, 1, sums.data(), 1, count * m * n);
    }
  });
  return true;
}

template bool widened_batch<float16>(const View&, const View&, const View&, float, float);
template bool widened_batch<bfloat16>(const View&, const View&, const View&, float, float);

}  // namespace rushlight
