// A product whose right operand is the same at every step of a sequence: packed once for the
// register tiles, where a general GEMM would pack it at each step. Of one step, and of so many rows
// that they leave the second cache, a GEMM is the quicker one.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "bfloat16_panels.h"
#include "gemm.h"
#include "kernels/cpu/scratch.h"

namespace rushlight {

template <class T>
struct StepRows {  // of one step
  std::int64_t rows;
  const T* left;
  T* out;
};

struct StepUse {  // what a product will be computed for
  std::int64_t steps, rows;
  bool rounded = false;  // operands may be rounded to bfloat16
};

template <class T>
class StepProduct {
 public:
  // right: (k, n). bias: what a product with beta = 0 starts from, n elements, or null.
  StepProduct(std::int64_t k, std::int64_t n, Matrix<const T> right, const StepUse& use,
              const T* bias = nullptr);

  // Whether the right operand is packed: else each step is a GEMM, and there is no bias.
  static bool packs(std::int64_t k, const StepUse& use);
  // Whether it is packed for tiles of bfloat16.
  static bool rounds(std::int64_t k, const StepUse& use);

  bool takes_rows() const { return pairs_.has_value(); }  // a step may have more of them than `use`

  // out (rows x n, rows of ldo) = left (rows x k, rows of ldl) * right + beta * out; beta is 0
  // or 1. Of several steps at once, a panel of the right operand is read once.
  void run(std::span<const StepRows<T>> steps, std::int64_t ldl, T beta, std::int64_t ldo) const;
  void run(const StepRows<T>& step, std::int64_t ldl, T beta, std::int64_t ldo) const {
    run(std::span(&step, 1), ldl, beta, ldo);
  }

 private:
  void run_wide_panels(std::span<const StepRows<T>> steps, const float* transposed, bool adds,
                       std::int64_t ldo) const;
  void run_panels(std::span<const StepRows<T>> steps, const float* transposed, bool adds,
                  std::int64_t ldo) const;
  void run_rounded(std::span<const StepRows<T>> steps, std::int64_t ldl, bool adds,
                   std::int64_t ldo) const;

  std::int64_t k_, n_;
  Matrix<const T> right_;
  std::optional<Scratch<float>> packed_;  // [panel][k][columns]; none: gemm() serves
  std::optional<Scratch<Bfloat16Pair>> pairs_;  // [panel][pair][kPairColumns], in its place
  std::vector<float> bias_;  // of whole panels; empty: none
  std::vector<int> offsets_;  // of the rows of the transposed left operand
  std::int64_t ld_ = 0;  // its columns: the rows of a tile
};

extern template class StepProduct<float>;
extern template class StepProduct<double>;

}  // namespace rushlight
