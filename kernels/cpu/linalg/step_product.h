// A product whose right operand is the same at every step of a sequence: packed once for the
// register tiles, where a general GEMM would pack it at each step. Of one step, and of so many rows
// that they leave the second cache, a GEMM is the quicker one.
#pragma once
#include <vector>

#include "gemm.h"

namespace rushlight {

template <class T>
class StepProduct {
 public:
  // right: (k, n). So many steps will be computed of so many rows, each by one thread at a time.
  StepProduct(std::int64_t k, std::int64_t n, Matrix<const T> right, std::int64_t steps,
              std::int64_t rows);

  // out (rows x n, rows of ldo) = left (rows x k, rows of ldl) * right + beta * out; beta is 0
  // or 1.
  void run(std::int64_t rows, const T* left, std::int64_t ldl, T beta, T* out,
           std::int64_t ldo) const;

 private:
  std::int64_t k_, n_;
  Matrix<const T> right_;
  std::vector<float> packed_;  // [panel][k][kPanel]; empty: gemm() serves
  std::vector<int> offsets_;  // of the rows of the transposed left operand
  std::int64_t ld_ = 0;  // its columns
};

extern template class StepProduct<float>;
extern template class StepProduct<double>;

}  // namespace rushlight
