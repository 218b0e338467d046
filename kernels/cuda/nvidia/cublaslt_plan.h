// How cuBLASLt computes a product: its descriptors, and what its search chose.
#pragma once
#include "cublaslt.h"
#include "kernels/cuda/runtime/current.h"

namespace rushlight::gpu::cublaslt {

void check(const Functions& f, cublasStatus_t status, const char* call);

// All that a plan depends on, as integers of one size.
struct Problem {
  Index rows, columns, depth, batch;
  Index left_step, right_step, out_step, left_batch, right_batch, out_batch;
  Index left_transposed, right_transposed, dtype, tf32, has_bias;
  Index left_alignment, right_alignment, out_alignment, bias_alignment;
};

struct Plan {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulHeuristicResult_t answer = {};
  bool exists = false;  // else cuBLASLt has nothing for it
};

// The bias of an epilogue, or null: where it lies is no part of a plan.
void set_bias(const Functions& f, cublasLtMatmulDesc_t product, const View* bias);
Plan make_plan(const Functions& f, cublasLtHandle_t handle, const Problem& problem,
               const View* bias);
void destroy(const Functions& f, const Plan& plan);

}  // namespace rushlight::gpu::cublaslt
