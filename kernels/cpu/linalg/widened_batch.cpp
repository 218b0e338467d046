// As many matrices as a nearby cache holds are widened together, multiplied and narrowed.
#include "widened_batch.h"

#include <algorithm>

#include "gemm.h"
#include "kernels/copy.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "small_batch.h"
#include "strided_matrix.h"

namespace rushlight {
namespace {

// Whether a batch is one run of memory, each matrix in rows or transposed.
bool is_one_run(const View& v) {
  const std::int64_t rows = v.sizes[1], cols = v.sizes[2];
  return v.strides[0] == rows * cols && ((v.strides[2] == 1 && v.strides[1] == cols) ||
                                         (v.strides[1] == 1 && v.strides[2] == rows));
}

// One operand: `count` of its matrices are widened where they lie, or from a copy in rows.
template <class S>
struct Operand {
  const View& view;
  std::int64_t rows = view.sizes[1], cols = view.sizes[2], size = rows * cols;
  bool here = is_one_run(view),
       in_rows = !here || (view.strides[2] == 1 && view.strides[1] == cols);

  void widen(std::int64_t first, std::int64_t count, S* copy, float* to) const {
    View some = view;
    some.data = view.as<S>() + first * view.strides[0];
    some.sizes[0] = count;
    some.numel = count * size;
    const void* from = some.data;
    if (!here) {
      View dense = some;
      dense.data = copy;
      dense.strides[0] = size, dense.strides[1] = cols, dense.strides[2] = 1;
      cpu_copy.copy(dense, some);
      from = copy;
    }
    row_conversion(DType::float32, dtype_of<S>())(to, 1, from, 1, count * size);
  }
  View widened(float* from, std::int64_t count) const {
    return {from,         DType::float32,      3,
            count * size, {count, rows, cols}, {size, in_rows ? cols : 1, in_rows ? 1 : rows}};
  }
};

Matrix<const float> matrix(const View& v, std::int64_t i) {
  const bool in_rows = v.strides[2] == 1;
  return {v.as<float>() + i * v.strides[0], in_rows ? v.strides[1] : v.strides[2], !in_rows};
}
void multiply(const View& left, const View& right, const View& out, float alpha) {
  if (small_batch<float>(left, right, out, alpha, 0)) return;
  const std::int64_t m = out.sizes[1], n = out.sizes[2];
  for (std::int64_t i = 0; i < out.sizes[0]; ++i)
    gemm<float>(m, n, left.sizes[2], alpha, matrix(left, i), matrix(right, i), 0,
                {out.as<float>() + i * m * n, n});
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
  constexpr std::int64_t kAtOnce = 8192;  // elements of an operand
  const std::int64_t largest = std::max({m * k, k * n, m * n});
  const std::int64_t most = std::max<std::int64_t>(1, kAtOnce / largest);
  const Operand<S> first{left}, second{right};
  const ConvertRow narrow = row_conversion(dtype_of<S>(), DType::float32);
  parallel_for(batch, 1 + kWorthwhile / (m * n * k), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t room = std::min(most, end - begin);
    Scratch<float> a(room * m * k), b(room * k * n), sums(room * m * n);
    Scratch<S> copy(first.here && second.here ? 0 : room * largest);
    for (std::int64_t i = begin; i < end; i += room) {
      const std::int64_t count = std::min(room, end - i);
      first.widen(i, count, copy.data(), a.data());
      second.widen(i, count, copy.data(), b.data());
      multiply(first.widened(a.data(), count), second.widened(b.data(), count),
               {sums.data(), DType::float32, 3, count * m * n, {count, m, n}, {m * n, n, 1}},
               alpha);
      narrow(out.as<S>() + i * m * n, 1, sums.data(), 1, count * m * n);
    }
  });
  return true;
}

template bool widened_batch<float16>(const View&, const View&, const View&, float, float);
template bool widened_batch<bfloat16>(const View&, const View&, const View&, float, float);

}  // namespace rushlight
