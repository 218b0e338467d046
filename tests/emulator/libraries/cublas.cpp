// In place of cuBLAS, for tests: the same functions on the emulator's memory, answered by the CPU's
// BLAS and LAPACK. Types, sizes, steps from column to column and memory of every call are checked,
// those of a batch when the stream comes to it; the workspace is filled with NaN.
#include "kernels/cuda/nvidia/cublas.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "kernels/cpu/linalg/lapack.h"
#include "memory.h"

using emulated::holds;
using emulated::wrong;
using rushlight::lapack;
using namespace rushlight::gpu::cublas;

namespace rushlight::gpu::cublas {
struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t bytes = 0;
};
}  // namespace rushlight::gpu::cublas

namespace {

std::atomic<int> systems{0}, batches{0};

// A matrix whose columns lie `lda` elements apart.
template <class T>
bool is_sound(const char* what, const void* data, int rows, int columns, int lda) {
  if (rows < 1 || columns < 1 || lda < rows)
    return wrong("%s: a step of %d in %d columns of %d", what, lda, columns, rows);
  const auto elements = std::uint64_t(lda) * std::uint64_t(columns - 1) + std::uint64_t(rows);
  return holds(what, data, elements * sizeof(T));
}
bool has_batch(cublasHandle_t handle, std::initializer_list<const void*> pointers, int batch) {
  if (!handle || batch < 1) return wrong("a batch of %d", batch);
  for (const void* p : pointers)
    if (!holds("pointers", p, std::uint64_t(batch) * sizeof(void*))) return false;
  return true;
}

// Calls work() when the stream comes to it.
template <class F>
cublasStatus_t give(cublasHandle_t handle, F work) {
  if (!handle->workspace || !holds("the workspace", handle->workspace, handle->bytes))
    return CUBLAS_STATUS_INVALID_VALUE;
  emulated::give(handle->stream, [=, workspace = handle->workspace, bytes = handle->bytes] {
    std::memset(workspace, 0xff, bytes);  // NaN
    work();
  });
  return CUBLAS_STATUS_SUCCESS;
}

struct System {
  cublasFillMode_t fill;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
  int n, columns, lda, ldb;
};
template <class T>
void solve(const System& s, T by, const void* a, void* b) {
  lapack<T>().trsm("L", s.fill == CUBLAS_FILL_MODE_UPPER ? "U" : "L",
                   s.operation == CUBLAS_OP_T ? "T" : "N",
                   s.diagonal == CUBLAS_DIAG_UNIT ? "U" : "N", &s.n, &s.columns, &by,
                   static_cast<const T*>(a), &s.lda, static_cast<T*>(b), &s.ldb, 1, 1, 1, 1);
}

template <class T>
cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, const System& s, const void* by,
                    const void* a, void* b) {
  if (!handle || side != CUBLAS_SIDE_LEFT || !is_sound<T>("a", a, s.n, s.n, s.lda) ||
      !is_sound<T>("b", b, s.n, s.columns, s.ldb))
    return CUBLAS_STATUS_INVALID_VALUE;
  ++systems;
  return give(handle, [=, by = *static_cast<const T*>(by)] { solve<T>(s, by, a, b); });
}
template <class T>
cublasStatus_t trsm_batched(cublasHandle_t handle, cublasSideMode_t side, const System& s,
                            const void* by, const void* const* a, void* const* b, int batch) {
  if (side != CUBLAS_SIDE_LEFT || !has_batch(handle, {a, b}, batch))
    return CUBLAS_STATUS_INVALID_VALUE;
  ++batches;
  return give(handle, [=, by = *static_cast<const T*>(by)] {
    for (int i = 0; i < batch; ++i)
      if (is_sound<T>("a", a[i], s.n, s.n, s.lda) && is_sound<T>("b", b[i], s.n, s.columns, s.ldb))
        solve<T>(s, by, a[i], b[i]);
  });
}

template <class T>
cublasStatus_t getrf_batched(cublasHandle_t handle, int n, void* const* a, int lda, int* pivots,
                             int* info, int batch) {
  const auto count = std::uint64_t(std::max(batch, 0)) * sizeof(int);
  if (!has_batch(handle, {a}, batch) || !holds("pivots", pivots, count * std::uint64_t(n)) ||
      !holds("info", info, count))
    return CUBLAS_STATUS_INVALID_VALUE;
  ++batches;
  return give(handle, [=] {
    for (int i = 0; i < batch; ++i)
      if (is_sound<T>("a", a[i], n, n, lda))
        lapack<T>().getrf(&n, &n, static_cast<T*>(a[i]), &lda, pivots + std::int64_t(i) * n,
                          info + i);
  });
}

template <class T>
cublasStatus_t geqrf_batched(cublasHandle_t handle, int m, int n, void* const* a, int lda,
                             void* const* tau, int* info, int batch) {
  if (!has_batch(handle, {a, tau}, batch)) return CUBLAS_STATUS_INVALID_VALUE;
  *info = 0;
  ++batches;
  return give(handle, [=] {
    int size = 64 * std::max(n, 1), unused = 0;
    std::vector<T> work(std::size_t(size) + 1);
    for (int i = 0; i < batch; ++i)
      if (is_sound<T>("a", a[i], m, n, lda) &&
          holds("tau", tau[i], std::uint64_t(std::min(m, n)) * sizeof(T)))
        lapack<T>().geqrf(&m, &n, static_cast<T*>(a[i]), &lda, static_cast<T*>(tau[i]), work.data(),
                          &size, &unused);
  });
}

}  // namespace

extern "C" {

// For tests: how many systems were solved one by one, and how many calls were for a batch.
int emulated_systems() { return systems; }
int emulated_batches() { return batches; }

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? 13 : type == MINOR_VERSION ? 10 : 0;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t s) {
  return s == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                          : "CUBLAS_STATUS_NOT_SUPPORTED";
}
cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t stream) {
  h->stream = stream;
  h->workspace = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void* workspace, std::size_t bytes) {
  h->workspace = workspace;
  h->bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasStrsm_v2(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,
                              const void* alpha, const void* a, int lda, void* b, int ldb) {
  return trsm<float>(h, side, {fill, operation, diagonal, m, n, lda, ldb}, alpha, a, b);
}
cublasStatus_t cublasDtrsm_v2(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,
                              const void* alpha, const void* a, int lda, void* b, int ldb) {
  return trsm<double>(h, side, {fill, operation, diagonal, m, n, lda, ldb}, alpha, a, b);
}
cublasStatus_t cublasStrsmBatched(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,
                                  cublasOperation_t operation, cublasDiagType_t diagonal, int m,
                                  int n, const void* alpha, const void* const* a, int lda,
                                  void* const* b, int ldb, int batch) {
  return trsm_batched<float>(h, side, {fill, operation, diagonal, m, n, lda, ldb}, alpha, a, b,
                             batch);
}
cublasStatus_t cublasDtrsmBatched(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,
                                  cublasOperation_t operation, cublasDiagType_t diagonal, int m,
                                  int n, const void* alpha, const void* const* a, int lda,
                                  void* const* b, int ldb, int batch) {
  return trsm_batched<double>(h, side, {fill, operation, diagonal, m, n, lda, ldb}, alpha, a, b,
                              batch);
}
cublasStatus_t cublasSgetrfBatched(cublasHandle_t h, int n, void* const* a, int lda, int* pivots,
                                   int* info, int batch) {
  return getrf_batched<float>(h, n, a, lda, pivots, info, batch);
}
cublasStatus_t cublasDgetrfBatched(cublasHandle_t h, int n, void* const* a, int lda, int* pivots,
                                   int* info, int batch) {
  return getrf_batched<double>(h, n, a, lda, pivots, info, batch);
}
cublasStatus_t cublasSgeqrfBatched(cublasHandle_t h, int m, int n, void* const* a, int lda,
                                   void* const* tau, int* info, int batch) {
  return geqrf_batched<float>(h, m, n, a, lda, tau, info, batch);
}
cublasStatus_t cublasDgeqrfBatched(cublasHandle_t h, int m, int n, void* const* a, int lda,
                                   void* const* tau, int* info, int batch) {
  return geqrf_batched<double>(h, m, n, a, lda, tau, info, batch);
}

}  // extern "C"
