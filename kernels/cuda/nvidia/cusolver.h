// What is used of cuSOLVER's dense part: numbers and signatures are facts of its
// binary interface, the same in all of CUDA 13, so that none of NVIDIA's headers is needed to
// build. Matrices are stored by columns, `ld` elements from one to the next; info is the
// device's.
#pragma once
#include <cuda_runtime.h>

#include "cublas.h"

namespace rushlight::gpu::cusolver {

using enum cublas::cublasFillMode_t;
using cublas::cublasFillMode_t;

enum cusolverStatus_t : int { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_INVALID_VALUE = 3 };
enum cusolverEigMode_t : int { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };

using cusolverDnHandle_t = struct cusolverDnContext*;
using cusolverDnParams_t = struct cusolverDnParams*;
using gesvdjInfo_t = struct gesvdjInfo*;  // how long and how exactly Jacobi's method iterates
using Long = std::int64_t;
using Bytes = std::size_t;

// Each factorisation is two functions: the size of its workspace, and the factorisation itself. The
// newer ones take any element and count bytes, on the device and on the host; the older ones are
// one for each element (float32, float64) and count elements, on the device.
struct Functions {
  cusolverStatus_t (*version)(int*);
  cusolverStatus_t (*create)(cusolverDnHandle_t*);
  cusolverStatus_t (*create_options)(cusolverDnParams_t*);
  cusolverStatus_t (*create_jacobi)(gesvdjInfo_t*);
  cusolverStatus_t (*set_stream)(cusolverDnHandle_t, cudaStream_t);
  cusolverStatus_t (*lu_workspace)(cusolverDnHandle_t, cusolverDnParams_t, Long m, Long n,
                                   cudaDataType_t, const void* a, Long ld, cudaDataType_t computed,
                                   Bytes* device, Bytes* host);
  cusolverStatus_t (*lu)(cusolverDnHandle_t, cusolverDnParams_t, Long m, Long n, cudaDataType_t,
                         void* a, Long ld, Long* pivots, cudaDataType_t computed, void* work, Bytes,
                         void* host_work, Bytes, int* info);
  cusolverStatus_t (*cholesky_workspace)(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t,
                                         Long n, cudaDataType_t, const void* a, Long ld,
                                         cudaDataType_t computed, Bytes* device, Bytes* host);
  cusolverStatus_t (*cholesky)(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, Long n,
                               cudaDataType_t, void* a, Long ld, cudaDataType_t computed,
                               void* work, Bytes, void* host_work, Bytes, int* info);
  // An array of pointers to matrices.
  cusolverStatus_t (*cholesky_batch[2])(cusolverDnHandle_t, cublasFillMode_t, int n, void* const* a,
                                        int ld, int* info, int batch);
  cusolverStatus_t (*qr_workspace)(cusolverDnHandle_t, cusolverDnParams_t, Long m, Long n,
                                   cudaDataType_t, const void* a, Long ld, cudaDataType_t,
                                   const void* tau, cudaDataType_t computed, Bytes* device,
                                   Bytes* host);
  cusolverStatus_t (*qr)(cusolverDnHandle_t, cusolverDnParams_t, Long m, Long n, cudaDataType_t,
                         void* a, Long ld, cudaDataType_t, void* tau, cudaDataType_t computed,
                         void* work, Bytes, void* host_work, Bytes, int* info);
  cusolverStatus_t (*eigen_workspace)(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                      cublasFillMode_t, Long n, cudaDataType_t, const void* a,
                                      Long ld, cudaDataType_t, const void* values,
                                      cudaDataType_t computed, Bytes* device, Bytes* host);
  cusolverStatus_t (*eigen)(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                            cublasFillMode_t, Long n, cudaDataType_t, void* a, Long ld,
                            cudaDataType_t, void* values, cudaDataType_t computed, void* work,
                            Bytes, void* host_work, Bytes, int* info);
  // The same for matrices that lie one after the other.
  cusolverStatus_t (*eigen_batch_workspace)(cusolverDnHandle_t, cusolverDnParams_t,
                                            cusolverEigMode_t, cublasFillMode_t, Long n,
                                            cudaDataType_t, const void* a, Long ld, cudaDataType_t,
                                            const void* values, cudaDataType_t computed,
                                            Bytes* device, Bytes* host, Long batch);
  cusolverStatus_t (*eigen_batch)(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                  cublasFillMode_t, Long n, cudaDataType_t, void* a, Long ld,
                                  cudaDataType_t, void* values, cudaDataType_t computed, void* work,
                                  Bytes, void* host_work, Bytes, int* info, Long batch);
  cusolverStatus_t (*reflections_workspace[2])(cusolverDnHandle_t, int m, int n, int k,
                                               const void* a, int ld, const void* tau,
                                               int* workspace);
  cusolverStatus_t (*reflections[2])(cusolverDnHandle_t, int m, int n, int k, void* a, int ld,
                                     const void* tau, void* work, int workspace, int* info);
  // By Jacobi's method: v is not transposed; thin: as many columns of u and v as values.
  cusolverStatus_t (*svd_workspace[2])(cusolverDnHandle_t, cusolverEigMode_t, int thin, int m,
                                       int n, const void* a, int ld, const void* s, const void* u,
                                       int ldu, const void* v, int ldv, int* workspace,
                                       gesvdjInfo_t);
  cusolverStatus_t (*svd[2])(cusolverDnHandle_t, cusolverEigMode_t, int thin, int m, int n, void* a,
                             int ld, void* s, void* u, int ldu, void* v, int ldv, void* work,
                             int workspace, int* info, gesvdjInfo_t);
  // The same for matrices that lie one after the other, of kMostBatchSide rows and columns at
  // most; all columns of u and v.
  cusolverStatus_t (*svd_batch_workspace[2])(cusolverDnHandle_t, cusolverEigMode_t, int m, int n,
                                             const void* a, int ld, const void* s, const void* u,
                                             int ldu, const void* v, int ldv, int* workspace,
                                             gesvdjInfo_t, int batch);
  cusolverStatus_t (*svd_batch[2])(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, void* a,
                                   int ld, void* s, void* u, int ldu, void* v, int ldv, void* work,
                                   int workspace, int* info, gesvdjInfo_t, int batch);

  static constexpr const char* names[] = {"cusolverGetVersion",
                                          "cusolverDnCreate",
                                          "cusolverDnCreateParams",
                                          "cusolverDnCreateGesvdjInfo",
                                          "cusolverDnSetStream",
                                          "cusolverDnXgetrf_bufferSize",
                                          "cusolverDnXgetrf",
                                          "cusolverDnXpotrf_bufferSize",
                                          "cusolverDnXpotrf",
                                          "cusolverDnSpotrfBatched",
                                          "cusolverDnDpotrfBatched",
                                          "cusolverDnXgeqrf_bufferSize",
                                          "cusolverDnXgeqrf",
                                          "cusolverDnXsyevd_bufferSize",
                                          "cusolverDnXsyevd",
                                          "cusolverDnXsyevBatched_bufferSize",
                                          "cusolverDnXsyevBatched",
                                          "cusolverDnSorgqr_bufferSize",
                                          "cusolverDnDorgqr_bufferSize",
                                          "cusolverDnSorgqr",
                                          "cusolverDnDorgqr",
                                          "cusolverDnSgesvdj_bufferSize",
                                          "cusolverDnDgesvdj_bufferSize",
                                          "cusolverDnSgesvdj",
                                          "cusolverDnDgesvdj",
                                          "cusolverDnSgesvdjBatched_bufferSize",
                                          "cusolverDnDgesvdjBatched_bufferSize",
                                          "cusolverDnSgesvdjBatched",
                                          "cusolverDnDgesvdjBatched"};
  static const LibraryKind& kind();
};
inline constexpr int kMostBatchSide = 32;

}  // namespace rushlight::gpu::cusolver
