// What is used of cuBLAS. Numbers and signatures are facts of its binary interface, the same in all
// of CUDA 13, so that none of NVIDIA's headers is needed to build. Matrices are stored by columns,
// `lda` elements from one to the next; a batch is an array of pointers in device memory.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::cublas {

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum libraryPropertyType : int { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
enum cublasSideMode_t : int { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasFillMode_t : int { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasDiagType_t : int { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };

using cublasHandle_t = struct cublasContext*;

// Pairs are for float and double.
struct Functions {
  cublasStatus_t (*get_property)(libraryPropertyType, int*);
  const char* (*status_name)(cublasStatus_t);
  cublasStatus_t (*create)(cublasHandle_t*);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  cublasStatus_t (*set_workspace)(cublasHandle_t, void* workspace, std::size_t bytes);
  cublasStatus_t (*trsm[2])(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                            cublasDiagType_t, int m, int n, const void* alpha, const void* a,
                            int lda, void* b, int ldb);
  cublasStatus_t (*trsm_batched[2])(cublasHandle_t, cublasSideMode_t, cublasFillMode_t,
                                    cublasOperation_t, cublasDiagType_t, int m, int n,
                                    const void* alpha, const void* const* a, int lda,
                                    void* const* b, int ldb, int batch);
  cublasStatus_t (*getrf_batched[2])(cublasHandle_t, int n, void* const* a, int lda, int* pivots,
                                     int* info, int batch);
  // info: one number of the host, for the arguments.
  cublasStatus_t (*geqrf_batched[2])(cublasHandle_t, int m, int n, void* const* a, int lda,
                                     void* const* tau, int* info, int batch);

  static constexpr const char* names[] = {
      "cublasGetProperty",     "cublasGetStatusName", "cublasCreate_v2",     "cublasSetStream_v2",
      "cublasSetWorkspace_v2", "cublasStrsm_v2",      "cublasDtrsm_v2",      "cublasStrsmBatched",
      "cublasDtrsmBatched",    "cublasSgetrfBatched", "cublasDgetrfBatched", "cublasSgeqrfBatched",
      "cublasDgeqrfBatched"};
  static const LibraryKind& kind();
};

}  // namespace rushlight::gpu::cublas
