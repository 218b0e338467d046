// The descriptors of a product. cuBLASLt's matrices are stored by columns: our rows are its
// columns, so its a is our right operand, and d the transposed result.
#include "cublaslt_plan.h"

namespace rushlight::gpu::cublaslt {
namespace {

constexpr std::uint64_t kWorkspace = 32 << 20;  // what Hopper's kernels are written for

cudaDataType_t element_of(DType d) {
  return d == DType::float64    ? CUDA_R_64F
         : d == DType::float16  ? CUDA_R_16F
         : d == DType::bfloat16 ? CUDA_R_16BF
                                : CUDA_R_32F;
}

// A matrix whose lines are its columns.
cublasLtMatrixLayout_t make_layout(const Functions& f, const Problem& problem, Index length,
                                   Index lines, Index step, Index batch_step) {
  cublasLtMatrixLayout_t layout;
  check(f,
        f.create_layout(&layout, element_of(DType(problem.dtype)), std::uint64_t(length),
                        std::uint64_t(lines), step),
        "cublasLtMatrixLayoutCreate");
  if (problem.batch > 1) {
    const int batch = int(problem.batch);
    check(f, f.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
          "batch");
    check(f, f.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_step, 8),
          "batch offset");
  }
  return layout;
}

cublasLtMatmulPreference_t make_search(const Functions& f, const Problem& problem) {
  cublasLtMatmulPreference_t search;
  check(f, f.create_search(&search), "cublasLtMatmulPreferenceCreate");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(f, f.set_search(search, what, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  if (is_reduced(DType(problem.dtype)))
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        unsigned(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, unsigned(problem.right_alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, unsigned(problem.left_alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, unsigned(problem.out_alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, unsigned(problem.out_alignment));
  return search;
}

}  // namespace

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "cuBLASLt",
      .name = "cublasLt",
      .soname = "libcublasLt.so.13",
      .variable = "RUSHLIGHT_CUBLASLT_LIBRARY",
      .package = "nvidia-cublas",
      .needs = {},
      .floor = 130000,
      .version = [](void* f) { return int(reinterpret_cast<std::size_t (*)()>(f)()); },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

void check(const Functions& f, cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail_call(Functions::kind(), "CUDA", f.status_name(status), call);
}

void set_bias(const Functions& f, cublasLtMatmulDesc_t product, const View* bias) {
  if (bias)
    check(f,
          f.set_product(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias->data, sizeof bias->data),
          "cublasLtMatmulDescSetAttribute");
}

Plan make_plan(const Functions& f, cublasLtHandle_t handle, const Problem& problem,
               const View* bias) {
  Plan p;
  const bool wide = DType(problem.dtype) == DType::float64;
  check(f,
        f.create_product(&p.product,
                         wide           ? CUBLAS_COMPUTE_64F
                         : problem.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                        : CUBLAS_COMPUTE_32F,
                         wide ? CUDA_R_64F : CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  const auto set = [&](cublasLtMatmulDescAttributes_t what, auto value) {
    check(f, f.set_product(p.product, what, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, int(problem.right_transposed));
  set(CUBLASLT_MATMUL_DESC_TRANSB, int(problem.left_transposed));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE,
      unsigned(bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT));
  set_bias(f, p.product, bias);
  const Index m = problem.rows, n = problem.columns, k = problem.depth;
  p.a = make_layout(f, problem, problem.right_transposed ? k : n, problem.right_transposed ? n : k,
                    problem.right_step, problem.right_batch);
  p.b = make_layout(f, problem, problem.left_transposed ? m : k, problem.left_transposed ? k : m,
                    problem.left_step, problem.left_batch);
  p.d = make_layout(f, problem, n, m, problem.out_step, problem.out_batch);
  const cublasLtMatmulPreference_t search = make_search(f, problem);
  int found = 0;
  const cublasStatus_t status =
      f.search(handle, p.product, p.a, p.b, p.d, p.d, search, 1, &p.answer, &found);
  f.destroy_search(search);
  // It has no such epilogue for some types, and may call that a wrong value.
  if (status != CUBLAS_STATUS_NOT_SUPPORTED && !(bias && status == CUBLAS_STATUS_INVALID_VALUE))
    check(f, status, "cublasLtMatmulAlgoGetHeuristic");
  p.exists =
      status == CUBLAS_STATUS_SUCCESS && found > 0 && p.answer.status == CUBLAS_STATUS_SUCCESS;
  return p;
}

void destroy(const Functions& f, const Plan& plan) {
  f.destroy_product(plan.product);
  for (const cublasLtMatrixLayout_t layout : {plan.a, plan.b, plan.d}) f.destroy_layout(layout);
}

}  // namespace rushlight::gpu::cublaslt
