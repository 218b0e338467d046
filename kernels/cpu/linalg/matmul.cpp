// Matrix products on views: chooses how each operand is read, and splits one product or a batch
// over the pool. Note: no part takes longer than kLongest products would, what it reads included,
// so that Ctrl-C is answered in time.
#include "kernels/matmul.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "amx.h"
#include "bfloat16_product.h"
#include "few_rows.h"
#include "gemm.h"
#include "integer_product.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/wide_vector.h"
#include "kernels/parallel.h"
#include "narrow_gemm.h"
#include "openblas.h"
#include "small_batch.h"
#include "tile_gemm.h"
#include "vector_product.h"
#include "widened_batch.h"

namespace rushlight {
namespace {

constexpr std::int64_t kLongest = 500'000'000;  // multiplications: 10 ms with AVX-512, 30 without
constexpr std::int64_t kReadAs = 32;  // so many take as long as an element's way from memory
constexpr std::int64_t kLargestInt = 2'000'000'000;

template <class T>
StridedMatrix<T> matrix_of(const View& v, std::int64_t batch) {
  return {v.as<T>() + batch * v.strides[0], v.sizes[1], v.sizes[2], v.strides[1], v.strides[2]};
}

// Whether BLAS can read it as rows of contiguous elements, or as such rows transposed.
template <class T>
bool has_contiguous_rows(const StridedMatrix<T>& m) {
  return (m.cols == 1 || m.col_stride == 1) &&
         (m.rows == 1 || (m.row_stride >= m.cols && m.row_stride < kLargestInt));
}
// A dense copy, computed with T, in the order in which memory lies.
template <class S, class T>
StridedMatrix<const T> copied(const StridedMatrix<const S>& m, T* to) {
  if (m.row_stride < m.col_stride && m.rows > 1) return transposed(copied(transposed(m), to));
  const std::int64_t ld = std::max<std::int64_t>(m.cols, 1);
  parallel_for(m.rows, 1 + 32768 / ld, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const S* const row = m.data + i * m.row_stride;
      T* const line = to + i * ld;
      serial_for(m.cols, [&](std::int64_t first, std::int64_t past) {
        if constexpr (std::is_same_v<S, T>)
          for (; first < past; ++first) line[first] = row[first * m.col_stride];
        else
          row_conversion(dtype_of<T>(), dtype_of<S>())(line + first, 1, row + first * m.col_stride,
                                                       m.col_stride, past - first);
      });
    }
  });
  return {to, m.rows, m.cols, ld, 1};
}
// m as BLAS reads it in place; nullopt: not at all.
template <class T>
std::optional<Matrix<const T>> readable(const StridedMatrix<const T>& m) {
  if (has_contiguous_rows(m))
    return Matrix<const T>{m.data, m.rows == 1 ? std::max<std::int64_t>(m.cols, 1) : m.row_stride};
  if (has_contiguous_rows(transposed(m)))
    return Matrix<const T>{m.data, m.cols == 1 ? std::max<std::int64_t>(m.rows, 1) : m.col_stride,
                           true};
  return {};
}

// Cuts m or n, whichever is longer, into about `parts` strips whose edges suit the kernels.
template <class T>
void split_product(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
                   Matrix<const T> right, T beta, Matrix<T> out) {
  if (m <= 64 && n <= 64 && k <= 64) return gemm<T>(m, n, k, alpha, left, right, beta, out);
  const std::int64_t depth = std::max<std::int64_t>(1, std::min(k, kLongest / 64));
  if (k > depth) {  // long sums are added up piece by piece
    for (std::int64_t d = 0; d < k; d += depth)
      split_product(m, n, std::min(depth, k - d), alpha, left.block(0, d), right.block(d, 0),
                    d == 0 ? beta : T(1), out);
    return;
  }
  const std::int64_t longer = std::max(m, n), shorter = std::max<std::int64_t>(std::min(m, n), 1);
  const std::int64_t products = longer * shorter * std::max<std::int64_t>(k, 1);
  const std::int64_t threads = num_threads();
  // Few large parts keep packing cheap; some more than threads even out their progress.
  std::int64_t parts = std::min(products / kWorthwhile, threads);
  if (threads > 1) parts = std::max(parts, std::min(products / 16'000'000, 4 * threads));
  const std::int64_t read = longer * (shorter + k) * kReadAs;
  parts = std::max(parts, (products + read) / kLongest + 1);
  std::int64_t strip = rounded_up((longer + parts - 1) / std::max<std::int64_t>(parts, 1), 16);
  if (strip * shorter * k > 2 * kLongest)
    strip = std::max<std::int64_t>(1, 2 * kLongest / (shorter * k));
  parallel_for((longer + strip - 1) / strip, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * strip, size = std::min(strip, longer - first);
      if (m >= n)
        gemm<T>(size, n, k, alpha, left.block(first, 0), right, beta, out.block(first, 0));
      else
        gemm<T>(m, size, k, alpha, left, right.block(0, first), beta, out.block(0, first));
    }
  });
}

template <class T>
void scale(const StridedMatrix<T>& out, Compute<T> beta) {
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t j = 0; j < out.cols; ++j) {
      T* const o = out.data + i * out.row_stride + j * out.col_stride;
      store(o, beta == 0 ? Compute<T>(0) : beta * load(o));
    }
}

// out = alpha * left * right + beta * out for one matrix of floats or doubles.
template <class T>
void multiply(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
              const StridedMatrix<T>& out, T alpha, T beta) {
  const std::int64_t m = out.rows, n = out.cols, k = left.cols;
  if (m == 0 || n == 0) return;
  // Expanded vectors may be longer than any memory: BLAS's copy of them is refused.
  if (m == 1 && n == 1 && k && alpha != T(0) && left.col_stride > 0 && right.row_stride > 0) {
    const T sum =
        alpha * strided_dot<T>(k, left.data, left.col_stride, right.data, right.row_stride);
    *out.data = beta == T(0) ? sum : sum + beta * *out.data;
    return;
  }
  if (out.col_stride == 1 && k && alpha != T(0) && is_narrow<T>(m, n, k))
    return narrow_gemm<T>({m, n, k}, alpha, left.data, {left.row_stride, left.col_stride},
                          right.data, {right.row_stride, right.col_stride}, beta, out.data,
                          out.row_stride);
  if (few_rows<T>(left, right, out, alpha, beta)) return;
  if (tile_gemm<T>(left, right, output_of(out, alpha, beta))) return;
  if (!has_contiguous_rows(out) && has_contiguous_rows(transposed(out)))
    return multiply<T>(transposed(right), transposed(left), transposed(out), alpha, beta);
  if (k == 0 || alpha == T(0)) return scale(out, beta);  // BLAS may leave a NaN where beta is 0
  for (const auto* matrix : {&left, &right}) {
    if (readable(*matrix)) continue;
    Scratch<T> copy(std::size_t(matrix->rows * matrix->cols));
    const StridedMatrix<const T> dense = copied(*matrix, copy.data());
    return multiply<T>(matrix == &left ? dense : left, matrix == &right ? dense : right, out, alpha,
                       beta);
  }
  const Matrix<const T> a = *readable(left), b = *readable(right);
  if (has_contiguous_rows(out))
    return split_product<T>(m, n, k, alpha, a, b, beta, {out.data, m == 1 ? n : out.row_stride});
  Scratch<T> sums(std::size_t(m * n));
  split_product<T>(m, n, k, alpha, a, b, T(0), {sums.data(), n});
  parallel_for(m, 1 + 32768 / n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T* const o = out.data + i * out.row_stride + j * out.col_stride;
        const T sum = sums[std::size_t(i * n + j)];
        *o = beta == T(0) ? sum : sum + beta * *o;
      }
  });
}

// So few products that a copy would take longer.
template <class S, class T = Compute<S>>
void multiply_tiny(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
                   const StridedMatrix<S>& out, T alpha, T beta) {
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t j = 0; j < out.cols; ++j) {
      const S *a = left.data + i * left.row_stride, *b = right.data + j * right.col_stride;
      T sum = 0;
      for (std::int64_t k = 0; k < left.cols; ++k, a += left.col_stride, b += right.row_stride)
        sum += load(a) * load(b);
      S* const o = out.data + i * out.row_stride + j * out.col_stride;
      store(o, beta == 0 ? alpha * sum : alpha * sum + beta * load(o));
    }
}

// By each column of `right`, as by a vector: of a few long ones of bfloat16, for which there are
// instructions, quicker than a copy of `left`.
template <class S>
bool vector_products(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
                     const StridedMatrix<S>& out, float alpha, float beta) {
  const std::int64_t most = std::is_same_v<S, bfloat16> && left.cols >= 128 ? 3 : 1;
  if (out.cols > most) return false;
  for (std::int64_t j = 0; j < out.cols; ++j) {
    const StridedMatrix<const S> vector{right.data + j * right.col_stride, right.rows, 1,
                                        right.row_stride, 1};
    const StridedMatrix<S> to{out.data + j * out.col_stride, out.rows, 1, out.row_stride, 1};
    if (!vector_product<S>(left, vector, to, alpha, beta)) return false;  // nor would another one
  }
  return true;
}

// The same of 16-bit floats, summed in float.
template <class S>
void multiply_widened(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
                      const StridedMatrix<S>& out, float alpha, float beta) {
  const std::int64_t m = out.rows, n = out.cols, k = left.cols;
  if (m == 0 || n == 0) return;
  constexpr std::int64_t kTiny = 128;  // products
  if (alpha != 0 && k > 0 && m <= kTiny && n <= kTiny && m * n * k <= kTiny)
    return multiply_tiny<S>(left, right, out, alpha, beta);
  if (vector_products<S>(left, right, out, alpha, beta)) return;
  if (vector_products<S>(transposed(right), transposed(left), transposed(out), alpha, beta)) return;
  if constexpr (std::is_same_v<S, bfloat16>)
    if (bfloat16_product(left, right, output_of(out, alpha, beta))) return;
  if (k == 0 || alpha == 0) return scale(out, beta);
  if (out.row_stride < out.col_stride && m > 1)
    return multiply_widened<S>(transposed(right), transposed(left), transposed(out), alpha, beta);
  Scratch<float> a(std::size_t(m * k)), b(std::size_t(k * n)), sums(std::size_t(m * n));
  if (beta != 0)
    copied(StridedMatrix<const S>{out.data, m, n, out.row_stride, out.col_stride}, sums.data());
  multiply<float>(copied(left, a.data()), copied(right, b.data()), {sums.data(), m, n, n, 1}, alpha,
                  beta);
  const ConvertRow narrow = row_conversion(dtype_of<S>(), DType::float32);
  parallel_for(m, 1 + 32768 / n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      narrow(out.data + i * out.row_stride, out.col_stride, sums.data() + i * n, 1, n);
  });
}

// Where all rows of `left` are one, as those of an expanded tensor, so are the result's: f(left,
// right, out) computes the first, and the others are its copies. The same of right's columns.
template <class S, class F>
bool repeated(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
              const StridedMatrix<S>& out, F f) {
  if (left.row_stride != 0 || out.rows < 2) return false;
  f(StridedMatrix<const S>{left.data, 1, left.cols, 0, left.col_stride}, right,
    StridedMatrix<S>{out.data, 1, out.cols, out.row_stride, out.col_stride});
  Interruptible interruptible;
  if (out.col_stride == 1)
    for (std::int64_t i = 1; i < out.rows; ++i) {
      std::copy_n(out.data, out.cols, out.data + i * out.row_stride);
      interruptible.done(out.cols);
    }
  else
    for (std::int64_t j = 0; j < out.cols; ++j) {
      S* const first = out.data + j * out.col_stride;
      for (std::int64_t i = 1; i < out.rows; ++i) first[i * out.row_stride] = *first;
      interruptible.done(out.rows);
    }
  return true;
}

template <class S>
void batched(const View& left, const View& right, const View& out, Scalar alpha, Scalar beta) {
  using T = Compute<S>;
  const auto compute = [&](const StridedMatrix<const S>& a, const StridedMatrix<const S>& b,
                           const StridedMatrix<S>& c) {
    if constexpr (std::is_integral_v<S>)
      integer_product<S>(a, b, c, T(alpha.as_int()), T(beta.as_int()));
    else if constexpr (std::is_same_v<S, T>)
      multiply<T>(a, b, c, T(alpha.as_double()), T(beta.as_double()));
    else
      multiply_widened<S>(a, b, c, T(alpha.as_double()), T(beta.as_double()));
  };
  const auto swapped = [&](const StridedMatrix<const S>& a, const StridedMatrix<const S>& b,
                           const StridedMatrix<S>& c) {
    compute(transposed(b), transposed(a), transposed(c));
  };
  const std::int64_t m = out.sizes[1], n = out.sizes[2], k = left.sizes[2];
  const std::int64_t products = std::max<std::int64_t>(1, m * n * k);
  constexpr std::int64_t kTiny = 32;
  const bool is_tiny = std::is_floating_point_v<S> && k > 0 && alpha.as_double() != 0 &&
                       m <= kTiny && n <= kTiny && products <= kTiny;
  const bool afresh = beta.as_double() == 0;
  const auto one = [&](std::int64_t i) {
    const auto a = matrix_of<const S>(left, i), b = matrix_of<const S>(right, i);
    const auto c = matrix_of<S>(out, i);
    if constexpr (std::is_floating_point_v<S>)
      if (is_tiny) return multiply_tiny<S>(a, b, c, T(alpha.as_double()), T(beta.as_double()));
    if (afresh && (repeated(a, b, c, compute) ||
                   repeated(transposed(b), transposed(a), transposed(c), swapped)))
      return;
    compute(a, b, c);
  };
  if constexpr (!std::is_integral_v<S> && !std::is_same_v<S, T>)
    if (widened_batch<S>(left, right, out, T(alpha.as_double()), T(beta.as_double()))) return;
  const std::int64_t batch = out.sizes[0];
  if constexpr (std::is_floating_point_v<S>)
    if (batch > 1 && small_batch<S>(left, right, out, T(alpha.as_double()), T(beta.as_double())))
      return;
  // Large matrices one after another, each split; small ones whole, split among the threads.
  if (batch == 1 || products > 64 * kWorthwhile)
    for (std::int64_t i = 0; i < batch; ++i) one(i);
  else
    parallel_for(batch, 1 + kWorthwhile / products, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) one(i);
    });
}

void matmul(const View& left, const View& right, const View& out, Scalar alpha, Scalar beta) {
  const auto run = [&]<class S>(Type<S>) { batched<S>(left, right, out, alpha, beta); };
  if (is_floating(out.dtype))
    dispatch_floating(out.dtype, run);
  else
    dispatch_integral(out.dtype, run);
}

template <class T>
bool product_and_bias(const View& left, const View& right, const View& bias, const View& out) {
  const auto a = matrix_of<const T>(left, 0), b = matrix_of<const T>(right, 0);
  const auto to = matrix_of<T>(out, 0);
  const ProductOutput<T, Compute<T>> output{
      to, 1, 1, {bias.as<const T>(), to.rows, to.cols, 0, bias.strides[0]}};
  if constexpr (std::is_same_v<T, bfloat16>)
    return bfloat16_product(a, b, output);
  else
    return !is_narrow<T>(to.rows, to.cols, a.cols) && tile_gemm(a, b, output);
}
bool matmul_bias(const View& left, const View& right, const View& bias, const View& out) {
  return out.dtype == DType::bfloat16  ? product_and_bias<bfloat16>(left, right, bias, out)
         : out.dtype == DType::float32 ? product_and_bias<float>(left, right, bias, out)
         : out.dtype == DType::float64 ? product_and_bias<double>(left, right, bias, out)
                                       : false;
}

std::string library() {
  std::string text = blas_description();
  if (uses_wide_vectors()) text += "; all but small float and double products by tiles of ours";
  if (multiplies_bfloat16())
    text += amx::is_available() ? "; bfloat16 by AMX" : "; bfloat16 by AVX512-BF16";
  return text;
}

}  // namespace

const MatmulKernels cpu_matmul = {matmul, matmul_bias, library};

}  // namespace rushlight
