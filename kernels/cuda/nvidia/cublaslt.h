// What is used of cuBLASLt. Numbers and signatures are facts of its binary
// interface, the same in all of CUDA 13, so that none of NVIDIA's headers is needed to build.
// Matrices are stored by columns there, one after the other.
#pragma once
#include <cuda_runtime.h>

#include "cublas.h"

namespace rushlight::gpu::cublaslt {

using enum cublas::cublasStatus_t;
using cublas::cublasStatus_t;

enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasLtEpilogue_t : unsigned { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };
// A mask; COMPUTE_TYPE: parts of a sum are kept as they are computed.
enum cublasLtReductionScheme_t : unsigned { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2 };

// What can be set, and as which C type.
enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,       // int: 1 for the transposed matrix
  CUBLASLT_MATMUL_DESC_TRANSB = 4,       // int
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,     // unsigned
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8  // const void*: one element for each row of the result
};
enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,          // int
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6  // int64, in elements
};
enum cublasLtMatmulPreferenceAttributes_t : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,    // uint64
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,  // unsigned
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,  // unsigned; so are these
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};

using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t*;
struct cublasLtMatmulAlgo_t {
  std::uint64_t words[8];
};
struct cublasLtMatmulHeuristicResult_t {  // of a search
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace;
  cublasStatus_t status;
  float waves;
  int reserved[4];
};

struct Functions {
  std::size_t (*version)();
  const char* (*status_name)(cublasStatus_t);
  cublasStatus_t (*create)(cublasLtHandle_t*);
  cublasStatus_t (*create_product)(cublasLtMatmulDesc_t*, cublasComputeType_t,
                                   cudaDataType_t scale);
  cublasStatus_t (*destroy_product)(cublasLtMatmulDesc_t);
  cublasStatus_t (*set_product)(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                const void* value, std::size_t bytes);
  cublasStatus_t (*create_layout)(cublasLtMatrixLayout_t*, cudaDataType_t, std::uint64_t rows,
                                  std::uint64_t columns, std::int64_t step);
  cublasStatus_t (*destroy_layout)(cublasLtMatrixLayout_t);
  cublasStatus_t (*set_layout)(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
                               const void* value, std::size_t bytes);
  cublasStatus_t (*create_search)(cublasLtMatmulPreference_t*);
  cublasStatus_t (*destroy_search)(cublasLtMatmulPreference_t);
  cublasStatus_t (*set_search)(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                               const void* value, std::size_t bytes);
  cublasStatus_t (*search)(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t a,
                           cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                           cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t, int wanted,
                           cublasLtMatmulHeuristicResult_t* answers, int* found);
  // d = alpha * a * b + beta * c
  cublasStatus_t (*multiply)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void* alpha,
                             const void* a, cublasLtMatrixLayout_t, const void* b,
                             cublasLtMatrixLayout_t, const void* beta, const void* c,
                             cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t,
                             const cublasLtMatmulAlgo_t*, void* workspace, std::size_t bytes,
                             cudaStream_t);

  static constexpr const char* names[] = {"cublasLtGetVersion",
                                          "cublasLtGetStatusName",
                                          "cublasLtCreate",
                                          "cublasLtMatmulDescCreate",
                                          "cublasLtMatmulDescDestroy",
                                          "cublasLtMatmulDescSetAttribute",
                                          "cublasLtMatrixLayoutCreate",
                                          "cublasLtMatrixLayoutDestroy",
                                          "cublasLtMatrixLayoutSetAttribute",
                                          "cublasLtMatmulPreferenceCreate",
                                          "cublasLtMatmulPreferenceDestroy",
                                          "cublasLtMatmulPreferenceSetAttribute",
                                          "cublasLtMatmulAlgoGetHeuristic",
                                          "cublasLtMatmul"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::cublaslt
