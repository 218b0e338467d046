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
constexpr std::int64_t kNarrowDepth = 64;  // rows of `right` that are copied at most

template <class T>
bool is_narrow(std::int64_t m, std::int64_t n, std::int64_t k) {
  return n <= kNarrowBytes / std::int64_t(sizeof(T)) && k <= kNarrowDepth && m * k <= 1024;
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
