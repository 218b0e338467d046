// A small product with few columns, as small layers have them: BLAS would spend more on its
// dispatch than on the arithmetic. The operands may have any strides, the result has rows.
#pragma once
#include <cstdint>

namespace rushlight {

struct ProductSize {
  std::int64_t m, n, k;
};
struct Steps {  // elements from one row to the next, from one column to the next
  std::int64_t row, column;
};

constexpr std::int64_t kNarrowBytes = 128;  // of a row of `right`
constexpr std::int64_t kNarrowCopy = 64 * kNarrowBytes;  // of all its rows, as wide as vectors are

constexpr std::int64_t narrow_width(std::int64_t bytes) {  // what a row is filled up to
  return bytes <= 16 ? 16 : bytes <= 32 ? 32 : bytes <= 64 ? 64 : kNarrowBytes;
}
template <class T>
bool is_narrow(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr auto item = std::int64_t(sizeof(T));
  const std::int64_t depth = n < 4 ? 64 : kNarrowCopy / narrow_width(n * item);
  return n <= kNarrowBytes / item && m <= 2048 && k <= depth && m * k <= 2048;
}

// out (m x n, rows of `ld`) = alpha * left * right + beta * out; out is not read when beta == 0.
template <class T>
void narrow_gemm(ProductSize size, T alpha, const T* left, Steps left_steps, const T* right,
                 Steps right_steps, T beta, T* out, std::int64_t ld);
extern template void narrow_gemm(ProductSize, float, const float*, Steps, const float*, Steps,
                                 float, float*, std::int64_t);
extern template void narrow_gemm(ProductSize, double, const double*, Steps, const double*, Steps,
                                 double, double*, std::int64_t);

}  // namespace rushlight
