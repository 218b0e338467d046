// Rows of the matrix give dot products; columns are added up, four at a time, so that a sum is
// loaded and stored once for four of them.
#include "vector_product.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>
#include <vector>

#include "bfloat16_product.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/scratch.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
constexpr Index kLanes = 32;   // sums of a dot product
constexpr Index kStrip = 2048;  // rows whose sums stay in the nearest cache

template <class S>
CLONES_512 float dot(const S* row, const float* v, Index n) {
  float lanes[kLanes] = {}, sum = 0;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) lanes[k] += load(row + i + k) * v[i + k];
  for (; i < n; ++i) sum += load(row + i) * v[i];
  for (Index k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

// Of two vectors of 16-bit floats, which are read once; of bfloat16 two neighbours as one number.
template <class S>
CLONES_512 float stored_dot(const S* a, const S* b, Index n) {
  float lanes[kLanes] = {}, sum = 0;
  Index i = 0;
  if constexpr (std::is_same_v<S, bfloat16>) {
    using Pair [[gnu::may_alias, gnu::aligned(2)]] = std::uint32_t;
    const auto low = [](std::uint32_t pair) { return std::bit_cast<float>(pair << 16); };
    const auto high = [](std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); };
    const auto *x = reinterpret_cast<const Pair*>(a), *y = reinterpret_cast<const Pair*>(b);
    for (; i + 2 * kLanes <= n; i += 2 * kLanes, x += kLanes, y += kLanes)
      for (Index k = 0; k < kLanes; ++k)
        lanes[k] += low(x[k]) * low(y[k]) + high(x[k]) * high(y[k]);
  } else {
    for (; i + kLanes <= n; i += kLanes)
      for (Index k = 0; k < kLanes; ++k) lanes[k] += load(a + i + k) * load(b + i + k);
  }
  for (; i < n; ++i) sum += load(a + i) * load(b + i);
  for (Index k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

// sums[0, n) += columns of `ld` times k values
template <class S>
CLONES_512 void add_columns(const S* columns, Index ld, Index n, Index k, const float* v,
                            float* __restrict sums) {
  Index j = 0;
  for (; j + 4 <= k; j += 4) {
    const S *c0 = columns + j * ld, *c1 = c0 + ld, *c2 = c1 + ld, *c3 = c2 + ld;
    const float v0 = v[j], v1 = v[j + 1], v2 = v[j + 2], v3 = v[j + 3];
    for (Index i = 0; i < n; ++i)
      sums[i] += load(c0 + i) * v0 + load(c1 + i) * v1 + (load(c2 + i) * v2 + load(c3 + i) * v3);
  }
  for (; j < k; ++j)
    for (Index i = 0; i < n; ++i) sums[i] += load(columns + j * ld + i) * v[j];
}

// In as many lanes as fill eight vectors of AVX2.
template <class T>
CLONES_512 T dense_dot(const T* a, const T* b, Index n) {
  constexpr Index N = 256 / sizeof(T);
  T lanes[N] = {}, sum = 0;
  Index i = 0;
  for (; i + N <= n; i += N)
    for (Index k = 0; k < N; ++k) lanes[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum += a[i] * b[i];
  for (Index half = N / 2; half; half /= 2)
    for (Index k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  return sum + lanes[0];
}

template <class T>
T spaced_dot(const T* a, Index a_step, const T* b, Index b_step, Index n) {
  constexpr Index kSums = 8;
  T sums[kSums] = {}, total = 0;
  Index i = 0;
  for (; i + kSums <= n; i += kSums)
    for (Index k = 0; k < kSums; ++k) sums[k] += a[(i + k) * a_step] * b[(i + k) * b_step];
  for (; i < n; ++i) total += a[i * a_step] * b[i * b_step];
  for (const T sum : sums) total += sum;
  return total;
}

}  // namespace

template <class T>
T strided_dot(Index n, const T* a, Index a_step, const T* b, Index b_step) {
  constexpr Index kPiece = 1 << 16;
  const bool dense = a_step == 1 && b_step == 1;
  const auto piece = [&](Index i) {
    const Index first = i * kPiece, count = std::min(kPiece, n - first);
    const T *x = a + first * a_step, *y = b + first * b_step;
    return dense ? dense_dot(x, y, count) : spaced_dot(x, a_step, y, b_step, count);
  };
  if (n <= kPiece) return piece(0);
  std::vector<T> sums(std::size_t((n + kPiece - 1) / kPiece));
  parallel_for(Index(sums.size()), 1, [&](Index begin, Index end) {
    for (; begin < end; ++begin) sums[std::size_t(begin)] = piece(begin);
  });
  return static_cast<T>(std::accumulate(sums.begin(), sums.end(), 0.0));
}

template <class S>
bool vector_product(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
                    const StridedMatrix<S>& out, float alpha, float beta) {
  const Index m = left.rows, k = left.cols;
  const bool rows = left.col_stride == 1, columns = left.row_stride == 1;
  if (k == 0 || alpha == 0 || !(rows || columns)) return false;
  const auto finish = [&](Index i, float sum) {
    S* o = out.data + i * out.row_stride;
    store(o, beta == 0 ? alpha * sum : alpha * sum + beta * load(o));
  };
  if (m == 1 && (rows || k == 1) && right.row_stride == 1) {
    finish(0, stored_dot(left.data, right.data, k));
    return true;
  }
  Scratch<float> v(k);
  for (Index i = 0; i < k; ++i) v[std::size_t(i)] = load(right.data + i * right.row_stride);
  Scratch<S> stored(rows ? k : 1);
  for (Index i = 0; rows && i < k; ++i) stored[std::size_t(i)] = right.data[i * right.row_stride];
  if (rows)
    parallel_for(m, 1 + 65536 / k, [&](Index begin, Index end) {
      Index i = begin;
      if constexpr (std::is_same_v<S, bfloat16>)
        for (float sums[4]; i + 4 <= end; i += 4) {
          if (!bfloat16_dots(left.data + i * left.row_stride, left.row_stride, stored.data(), k,
                             sums))
            break;
          for (Index r = 0; r < 4; ++r) finish(i + r, sums[r]);
        }
      for (; i < end; ++i) finish(i, dot(left.data + i * left.row_stride, v.data(), k));
    });
  else
    parallel_for((m + kStrip - 1) / kStrip, 1 + 65536 / (k * std::min(m, kStrip)),
                 [&](Index begin, Index end) {
                   float sums[kStrip];
                   for (Index strip = begin; strip < end; ++strip) {
                     const Index first = strip * kStrip, size = std::min(kStrip, m - first);
                     std::fill_n(sums, size, 0.f);
                     add_columns(left.data + first, left.col_stride, size, k, v.data(), sums);
                     for (Index i = 0; i < size; ++i) finish(first + i, sums[i]);
                   }
                 });
  return true;
}

template float strided_dot(Index, const float*, Index, const float*, Index);
template double strided_dot(Index, const double*, Index, const double*, Index);
template bool vector_product(const StridedMatrix<const bfloat16>&,
                             const StridedMatrix<const bfloat16>&, const StridedMatrix<bfloat16>&,
                             float, float);
template bool vector_product(const StridedMatrix<const float16>&,
                             const StridedMatrix<const float16>&, const StridedMatrix<float16>&,
                             float, float);

}  // namespace rushlight
