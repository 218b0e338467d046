// Products of matrices and vectors. Note: gradients of a transposed operand come
// back transposed, so that a Linear's weight gets a dense gradient without a copy.
#pragma once
#include "ops/ops.h"

namespace rushlight {

inline Tensor transposed(const Tensor& t) { return transpose(t, -2, -1); }  // the matrices

Tensor mm(const Tensor& self, const Tensor& mat2);        // (m, k) x (k, n) -> (m, n)
Tensor bmm(const Tensor& batch1, const Tensor& batch2);   // (b, m, k) x (b, k, n) -> (b, m, n)
Tensor mv(const Tensor& self, const Tensor& vec);         // (m, k) x (k) -> (m)
Tensor dot(const Tensor& self, const Tensor& tensor);     // (n) . (n) -> ()
Tensor outer(const Tensor& self, const Tensor& vec2);     // (m), (n) -> (m, n)
Tensor matmul(const Tensor& input, const Tensor& other);  // 1-d and more; batches broadcast
// beta * input + alpha * product; input broadcasts to the product's shape.
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha);
Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha);
Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
               Scalar alpha);
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
              Scalar alpha);  // summed over the batch
Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha);
// tensordot.cpp: summed over these dimensions of both, or over a's last and b's first ones.
using Dims = std::vector<std::int64_t>;
Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& left, const Dims& right);
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims);
// tensordot.cpp: each element of input times other, as one matrix of blocks.
Tensor kron(const Tensor& input, const Tensor& other);
// (..., in) x (out, in) -> (..., out), plus bias (out)
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);
// out[n][o] = sum of input1[n][i] * weight[o][i][j] * input2[n][j], plus bias[o]
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias);
// grouped.cpp: a product for each group; offs holds where the groups end in what a 2-d operand has
// too many of: rows of a, columns of b, or the inner elements of both.
Tensor grouped_mm(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs,
                  const std::optional<Tensor>& bias, std::optional<DType> out_dtype);
std::string matmul_library();  // whose products those of the CPU are, in words

}  // namespace rushlight
