// In place of cuSOLVER, for tests: the same functions on the emulator's memory, answered by the
// CPU's LAPACK. Types, sizes, steps from column to column, memory and workspace of every call are
// checked, and that the workspace is as large as was said and not shared: it is filled with NaN.
#include "kernels/cuda/nvidia/cusolver.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "kernels/cpu/linalg/lapack.h"
#include "memory.h"

using emulated::holds;
using emulated::wrong;
using rushlight::lapack;
using namespace rushlight::gpu::cusolver;

namespace rushlight::gpu::cusolver {
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
struct cusolverDnParams {};
struct gesvdjInfo {};
}  // namespace rushlight::gpu::cusolver

namespace {

constexpr Bytes kOnDevice = 3000, kOnHost = 500;
constexpr int kElements = 300;  // of the older functions' workspace
constexpr Long kMostTogether = 30000;
std::atomic<int> calls{0}, batches{0};
std::atomic<bool> gives_up{false};

// A batch of matrices; columns lie `ld` elements apart.
struct Matrix {
  const char* what;
  const void* data;
  Long rows, columns, ld;
  cudaDataType_t element;
  Long count = 1;
};

Bytes bytes_of(cudaDataType_t e) { return e == CUDA_R_64F ? 8 : 4; }

bool is_sound(const Matrix& m) {
  if (m.element != CUDA_R_32F && m.element != CUDA_R_64F)
    return wrong("%s: there is no element %d", m.what, int(m.element));
  if (m.rows < 1 || m.columns < 1 || m.count < 1)
    return wrong("%s: %lld matrices of %lld x %lld", m.what, static_cast<long long>(m.count),
                 static_cast<long long>(m.rows), static_cast<long long>(m.columns));
  if (m.ld < m.rows)
    return wrong("%s: a step of %lld in columns of %lld", m.what, static_cast<long long>(m.ld),
                 static_cast<long long>(m.rows));
  const auto elements =
      std::uint64_t(m.ld) * std::uint64_t(m.count * m.columns - 1) + std::uint64_t(m.rows);
  return holds(m.what, m.data, elements * bytes_of(m.element));
}
bool are_sound(cusolverDnHandle_t handle, std::initializer_list<Matrix> matrices,
               cudaDataType_t computed) {
  if (!handle) return wrong("no handle");
  for (const Matrix& m : matrices) {
    if (!is_sound(m)) return false;
    if (m.element != computed) return wrong("%s is of another element", m.what);
  }
  return true;
}
bool has_workspace(const void* work, Bytes bytes, Bytes needed, int* info, Long count = 1) {
  if (bytes < needed)
    return wrong("a workspace of %zu bytes, where %zu were asked for", bytes, needed);
  return holds("the workspace", work, bytes) && holds("info", info, std::uint64_t(count) * 4);
}
bool has_both(cusolverDnParams_t options, const void* work, Bytes bytes, void* host,
              Bytes host_bytes, int* info, Long count = 1) {
  if (!options) return wrong("no options");
  if (host_bytes < kOnHost) return wrong("a host workspace of %zu bytes", host_bytes);
  std::memset(host, 0xff, host_bytes);
  return has_workspace(work, bytes, kOnDevice, info, count);
}
cusolverStatus_t say_workspace(bool good, cusolverDnParams_t options, Bytes* device, Bytes* host) {
  if (!good || !options) return CUSOLVER_STATUS_INVALID_VALUE;
  *device = kOnDevice;
  *host = kOnHost;
  return CUSOLVER_STATUS_SUCCESS;
}

// Calls work(number of the type) when the stream comes to it.
template <class F>
cusolverStatus_t give(cusolverDnHandle_t handle, cudaDataType_t element, void* workspace,
                      Bytes bytes, F work) {
  ++calls;
  emulated::give(handle->stream, [=] {
    if (bytes) std::memset(workspace, 0xff, bytes);  // NaN
    if (element == CUDA_R_64F)
      work(double());
    else
      work(float());
  });
  return CUSOLVER_STATUS_SUCCESS;
}

// Calls a function of LAPACK with a query of its workspace first.
template <class T, class F>
void with_memory(F call) {
  T answer = 0;
  call(&answer, -1);
  const auto size = int(double(answer) * 1.0000002 + 1);
  std::vector<T> work(std::size_t(size) + 1);
  call(work.data(), size);
}

template <class T>
void eigen_of(cusolverEigMode_t vectors, cublasFillMode_t triangle, int n, T* a, int ld, T* values,
              int* info) {
  const char *job = vectors == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N",
             *part = triangle == CUBLAS_FILL_MODE_UPPER ? "U" : "L";
  std::vector<int> integers(std::size_t(n) * 5 + 10);
  const auto count = int(integers.size());
  with_memory<T>([&](T* work, int size) {
    const int asked = size < 0 ? -1 : count;
    lapack<T>().eigh(job, part, &n, a, &ld, values, work, &size, integers.data(), &asked, info, 1,
                     1);
  });
}

// As many columns of u and v as `thin` says.
template <class T>
void svd_of(cusolverEigMode_t vectors, bool thin, int m, int n, T* a, int ld, T* s, T* u, int ldu,
            T* v, int ldv, int* info) {
  const int k = std::min(m, n), columns = thin ? k : n;
  const char* job = vectors == CUSOLVER_EIG_MODE_NOVECTOR ? "N" : thin ? "S" : "A";
  std::vector<T> transposed(std::size_t(columns) * std::size_t(n));
  std::vector<int> integers(std::size_t(k) * 8);
  with_memory<T>([&](T* work, int size) {
    lapack<T>().gesdd(job, &m, &n, a, &ld, s, u, &ldu, transposed.data(), &columns, work, &size,
                      integers.data(), info, 1);
  });
  for (int i = 0; i < columns && vectors == CUSOLVER_EIG_MODE_VECTOR; ++i)
    for (int j = 0; j < n; ++j)
      v[std::size_t(i) * std::size_t(ldv) + std::size_t(j)] =
          transposed[std::size_t(j) * std::size_t(columns) + std::size_t(i)];
}

// The matrices of a decomposition; u and v only where they are wanted.
bool svd_is_sound(cusolverDnHandle_t handle, cudaDataType_t e, cusolverEigMode_t vectors, bool thin,
                  int m, int n, const void* a, int ld, const void* s, const void* u, int ldu,
                  const void* v, int ldv, gesvdjInfo_t jacobi, Long count = 1) {
  if (!jacobi) return wrong("it is not said how to iterate");
  const Long k = std::min(m, n);
  if (ldu < m || ldv < n) return wrong("steps of %d and %d in u and v", ldu, ldv);
  if (count > 1 && (ld != m || ldu != m || ldv != n))
    return wrong("the matrices of a batch do not lie one after the other");
  if (!are_sound(handle, {{"a", a, m, n, ld, e, count}, {"s", s, k, 1, k, e, count}}, e))
    return false;
  return vectors == CUSOLVER_EIG_MODE_NOVECTOR ||
         are_sound(
             handle,
             {{"u", u, m, thin ? k : m, ldu, e, count}, {"v", v, n, thin ? k : n, ldv, e, count}},
             e);
}

cusolverStatus_t reflections_workspace(cusolverDnHandle_t handle, cudaDataType_t e, int m, int n,
                                       int k, const void* a, int ld, const void* tau,
                                       int* workspace) {
  if (m < n || n < k || !are_sound(handle, {{"a", a, m, n, ld, e}, {"tau", tau, k, 1, k, e}}, e))
    return CUSOLVER_STATUS_INVALID_VALUE;
  *workspace = kElements;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t reflections(cusolverDnHandle_t handle, cudaDataType_t e, int m, int n, int k,
                             void* a, int ld, const void* tau, void* work, int workspace,
                             int* info) {
  int wanted;
  const cusolverStatus_t said = reflections_workspace(handle, e, m, n, k, a, ld, tau, &wanted);
  const Bytes bytes = Bytes(workspace) * bytes_of(e);
  if (said != CUSOLVER_STATUS_SUCCESS || !has_workspace(work, bytes, kElements * bytes_of(e), info))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(handle, e, work, bytes, [=]<class T>(T) {
    with_memory<T>([&](T* memory, int size) {
      lapack<T>().orgqr(&m, &n, &k, static_cast<T*>(a), &ld, static_cast<const T*>(tau), memory,
                        &size, info);
    });
  });
}

cusolverStatus_t svd_workspace(cusolverDnHandle_t handle, cudaDataType_t e,
                               cusolverEigMode_t vectors, bool thin, int m, int n, const void* a,
                               int ld, const void* s, const void* u, int ldu, const void* v,
                               int ldv, int* workspace, gesvdjInfo_t jacobi, Long count) {
  if (!svd_is_sound(handle, e, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, jacobi, count))
    return CUSOLVER_STATUS_INVALID_VALUE;
  *workspace = kElements;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t svd(cusolverDnHandle_t handle, cudaDataType_t e, cusolverEigMode_t vectors,
                     bool thin, int m, int n, void* a, int ld, void* s, void* u, int ldu, void* v,
                     int ldv, void* work, int workspace, int* info, gesvdjInfo_t jacobi,
                     Long count) {
  const Bytes bytes = Bytes(workspace) * bytes_of(e);
  if (!svd_is_sound(handle, e, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, jacobi, count) ||
      !has_workspace(work, bytes, kElements * bytes_of(e), info, count))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(handle, e, work, bytes, [=]<class T>(T) {
    const Long k = std::min(m, n);
    for (Long i = 0; i < count; ++i)
      svd_of(vectors, thin, m, n, static_cast<T*>(a) + i * ld * n, ld, static_cast<T*>(s) + i * k,
             static_cast<T*>(u) + i * ldu * m, ldu, static_cast<T*>(v) + i * ldv * n, ldv,
             info + i);
    if (gives_up) info[count - 1] = int(k) + 1;
  });
}

cusolverStatus_t cholesky_batch(cusolverDnHandle_t handle, cudaDataType_t e, cublasFillMode_t fill,
                                int n, void* const* a, int ld, int* info, int count) {
  if (!handle || count < 1 || n < 1 || ld < n || !holds("pointers", a, std::uint64_t(count) * 8) ||
      !holds("info", info, std::uint64_t(count) * 4))
    return CUSOLVER_STATUS_INVALID_VALUE;
  ++batches;
  return give(handle, e, nullptr, 0, [=]<class T>(T) {
    for (int i = 0; i < count; ++i)
      if (is_sound({"a", a[i], n, n, ld, e}))
        lapack<T>().potrf(fill == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &n, static_cast<T*>(a[i]),
                          &ld, info + i, 1);
  });
}

bool batch_is_sound(Long count, Long m, Long n, Long most) {
  if (count > kMostTogether) return wrong("%lld matrices at once", static_cast<long long>(count));
  return (m <= most && n <= most) || wrong("a batch of matrices that are too large");
}

}  // namespace

extern "C" {

// For tests: how many factorisations there were, how many of them of a whole batch, and that
// singular values are not found.
int emulated_factorisations() { return calls; }
int emulated_batches() { return batches; }
void emulated_give_up(int yes) { gives_up = yes != 0; }

cusolverStatus_t cusolverGetVersion(int* version) {
  *version = 12401;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* h) {
  *h = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* o) {
  *o = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* j) {
  *j = new gesvdjInfo;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t h, cudaStream_t stream) {
  h->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t o, Long m,
                                             Long n, cudaDataType_t e, const void* a, Long ld,
                                             cudaDataType_t computed, Bytes* device, Bytes* host) {
  return say_workspace(are_sound(h, {{"a", a, m, n, ld, e}}, computed), o, device, host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t h, cusolverDnParams_t o, Long m, Long n,
                                  cudaDataType_t e, void* a, Long ld, Long* pivots,
                                  cudaDataType_t computed, void* work, Bytes bytes, void* host,
                                  Bytes host_bytes, int* info) {
  const Long k = std::min(m, n);
  if (!are_sound(h, {{"a", a, m, n, ld, e}}, computed) ||
      !holds("pivots", pivots, std::uint64_t(k) * 8) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(m), columns = int(n), step = int(ld);
    std::vector<int> exchanged(static_cast<std::size_t>(k));
    lapack<T>().getrf(&rows, &columns, static_cast<T*>(a), &step, exchanged.data(), info);
    std::copy(exchanged.begin(), exchanged.end(), pivots);
  });
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t o,
                                             cublasFillMode_t, Long n, cudaDataType_t e,
                                             const void* a, Long ld, cudaDataType_t computed,
                                             Bytes* device, Bytes* host) {
  return say_workspace(are_sound(h, {{"a", a, n, n, ld, e}}, computed), o, device, host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t h, cusolverDnParams_t o,
                                  cublasFillMode_t triangle, Long n, cudaDataType_t e, void* a,
                                  Long ld, cudaDataType_t computed, void* work, Bytes bytes,
                                  void* host, Bytes host_bytes, int* info) {
  if (!are_sound(h, {{"a", a, n, n, ld, e}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(n), step = int(ld);
    lapack<T>().potrf(triangle == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &rows, static_cast<T*>(a),
                      &step, info, 1);
  });
}

cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t h, cublasFillMode_t fill, int n,
                                         void* const* a, int ld, int* info, int count) {
  return cholesky_batch(h, CUDA_R_32F, fill, n, a, ld, info, count);
}
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t h, cublasFillMode_t fill, int n,
                                         void* const* a, int ld, int* info, int count) {
  return cholesky_batch(h, CUDA_R_64F, fill, n, a, ld, info, count);
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t o, Long m,
                                             Long n, cudaDataType_t e, const void* a, Long ld,
                                             cudaDataType_t of_tau, const void* tau,
                                             cudaDataType_t computed, Bytes* device, Bytes* host) {
  const Long k = std::min(m, n);
  return say_workspace(
      are_sound(h, {{"a", a, m, n, ld, e}, {"tau", tau, k, 1, k, of_tau}}, computed), o, device,
      host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t h, cusolverDnParams_t o, Long m, Long n,
                                  cudaDataType_t e, void* a, Long ld, cudaDataType_t of_tau,
                                  void* tau, cudaDataType_t computed, void* work, Bytes bytes,
                                  void* host, Bytes host_bytes, int* info) {
  const Long k = std::min(m, n);
  if (!are_sound(h, {{"a", a, m, n, ld, e}, {"tau", tau, k, 1, k, of_tau}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(m), columns = int(n), step = int(ld);
    with_memory<T>([&](T* memory, int size) {
      lapack<T>().geqrf(&rows, &columns, static_cast<T*>(a), &step, static_cast<T*>(tau), memory,
                        &size, info);
    });
  });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t o,
                                             cusolverEigMode_t, cublasFillMode_t, Long n,
                                             cudaDataType_t e, const void* a, Long ld,
                                             cudaDataType_t of_values, const void* values,
                                             cudaDataType_t computed, Bytes* device, Bytes* host) {
  return say_workspace(
      are_sound(h, {{"a", a, n, n, ld, e}, {"values", values, n, 1, n, of_values}}, computed), o,
      device, host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t h, cusolverDnParams_t o,
                                  cusolverEigMode_t vectors, cublasFillMode_t triangle, Long n,
                                  cudaDataType_t e, void* a, Long ld, cudaDataType_t of_values,
                                  void* values, cudaDataType_t computed, void* work, Bytes bytes,
                                  void* host, Bytes host_bytes, int* info) {
  if (!are_sound(h, {{"a", a, n, n, ld, e}, {"values", values, n, 1, n, of_values}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return CUSOLVER_STATUS_INVALID_VALUE;
  return give(h, e, work, bytes, [=]<class T>(T) {
    eigen_of(vectors, triangle, int(n), static_cast<T*>(a), int(ld), static_cast<T*>(values), info);
  });
}

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t o,
                                                   cusolverEigMode_t, cublasFillMode_t, Long n,
                                                   cudaDataType_t e, const void* a, Long ld,
                                                   cudaDataType_t of_values, const void* values,
                                                   cudaDataType_t computed, Bytes* device,
                                                   Bytes* host, Long count) {
  return say_workspace(
      batch_is_sound(count, n, n, n) &&
          are_sound(h,
                    {{"a", a, n, n, ld, e, count}, {"values", values, n, 1, n, of_values, count}},
                    computed),
      o, device, host);
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t h, cusolverDnParams_t o,
                                        cusolverEigMode_t vectors, cublasFillMode_t triangle,
                                        Long n, cudaDataType_t e, void* a, Long ld,
                                        cudaDataType_t of_values, void* values,
                                        cudaDataType_t computed, void* work, Bytes bytes,
                                        void* host, Bytes host_bytes, int* info, Long count) {
  if (!batch_is_sound(count, n, n, n) ||
      !are_sound(h, {{"a", a, n, n, ld, e, count}, {"values", values, n, 1, n, of_values, count}},
                 computed) ||
      !has_both(o, work, bytes, host, host_bytes, info, count))
    return CUSOLVER_STATUS_INVALID_VALUE;
  ++batches;
  return give(h, e, work, bytes, [=]<class T>(T) {
    for (Long i = 0; i < count; ++i)
      eigen_of(vectors, triangle, int(n), static_cast<T*>(a) + i * ld * n, int(ld),
               static_cast<T*>(values) + i * n, info + i);
  });
}

cusolverStatus_t cusolverDnSorgqr_bufferSize(cusolverDnHandle_t h, int m, int n, int k,
                                             const void* a, int ld, const void* tau,
                                             int* workspace) {
  return reflections_workspace(h, CUDA_R_32F, m, n, k, a, ld, tau, workspace);
}
cusolverStatus_t cusolverDnDorgqr_bufferSize(cusolverDnHandle_t h, int m, int n, int k,
                                             const void* a, int ld, const void* tau,
                                             int* workspace) {
  return reflections_workspace(h, CUDA_R_64F, m, n, k, a, ld, tau, workspace);
}
cusolverStatus_t cusolverDnSorgqr(cusolverDnHandle_t h, int m, int n, int k, void* a, int ld,
                                  const void* tau, void* work, int workspace, int* info) {
  return reflections(h, CUDA_R_32F, m, n, k, a, ld, tau, work, workspace, info);
}
cusolverStatus_t cusolverDnDorgqr(cusolverDnHandle_t h, int m, int n, int k, void* a, int ld,
                                  const void* tau, void* work, int workspace, int* info) {
  return reflections(h, CUDA_R_64F, m, n, k, a, ld, tau, work, workspace, info);
}

cusolverStatus_t cusolverDnSgesvdj_bufferSize(cusolverDnHandle_t h, cusolverEigMode_t vectors,
                                              int thin, int m, int n, const void* a, int ld,
                                              const void* s, const void* u, int ldu, const void* v,
                                              int ldv, int* workspace, gesvdjInfo_t j) {
  return svd_workspace(h, CUDA_R_32F, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, workspace, j,
                       1);
}
cusolverStatus_t cusolverDnDgesvdj_bufferSize(cusolverDnHandle_t h, cusolverEigMode_t vectors,
                                              int thin, int m, int n, const void* a, int ld,
                                              const void* s, const void* u, int ldu, const void* v,
                                              int ldv, int* workspace, gesvdjInfo_t j) {
  return svd_workspace(h, CUDA_R_64F, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, workspace, j,
                       1);
}
cusolverStatus_t cusolverDnSgesvdj(cusolverDnHandle_t h, cusolverEigMode_t vectors, int thin, int m,
                                   int n, void* a, int ld, void* s, void* u, int ldu, void* v,
                                   int ldv, void* work, int workspace, int* info, gesvdjInfo_t j) {
  return svd(h, CUDA_R_32F, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, work, workspace, info, j,
             1);
}
cusolverStatus_t cusolverDnDgesvdj(cusolverDnHandle_t h, cusolverEigMode_t vectors, int thin, int m,
                                   int n, void* a, int ld, void* s, void* u, int ldu, void* v,
                                   int ldv, void* work, int workspace, int* info, gesvdjInfo_t j) {
  return svd(h, CUDA_R_64F, vectors, thin, m, n, a, ld, s, u, ldu, v, ldv, work, workspace, info, j,
             1);
}

cusolverStatus_t cusolverDnSgesvdjBatched_bufferSize(cusolverDnHandle_t h,
                                                     cusolverEigMode_t vectors, int m, int n,
                                                     const void* a, int ld, const void* s,
                                                     const void* u, int ldu, const void* v, int ldv,
                                                     int* workspace, gesvdjInfo_t j, int count) {
  return batch_is_sound(count, m, n, 32) ? svd_workspace(h, CUDA_R_32F, vectors, false, m, n, a, ld,
                                                         s, u, ldu, v, ldv, workspace, j, count)
                                         : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t cusolverDnDgesvdjBatched_bufferSize(cusolverDnHandle_t h,
                                                     cusolverEigMode_t vectors, int m, int n,
                                                     const void* a, int ld, const void* s,
                                                     const void* u, int ldu, const void* v, int ldv,
                                                     int* workspace, gesvdjInfo_t j, int count) {
  return batch_is_sound(count, m, n, 32) ? svd_workspace(h, CUDA_R_64F, vectors, false, m, n, a, ld,
                                                         s, u, ldu, v, ldv, workspace, j, count)
                                         : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t cusolverDnSgesvdjBatched(cusolverDnHandle_t h, cusolverEigMode_t vectors, int m,
                                          int n, void* a, int ld, void* s, void* u, int ldu,
                                          void* v, int ldv, void* work, int workspace, int* info,
                                          gesvdjInfo_t j, int count) {
  ++batches;
  return batch_is_sound(count, m, n, 32) ? svd(h, CUDA_R_32F, vectors, false, m, n, a, ld, s, u,
                                               ldu, v, ldv, work, workspace, info, j, count)
                                         : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t cusolverDnDgesvdjBatched(cusolverDnHandle_t h, cusolverEigMode_t vectors, int m,
                                          int n, void* a, int ld, void* s, void* u, int ldu,
                                          void* v, int ldv, void* work, int workspace, int* info,
                                          gesvdjInfo_t j, int count) {
  ++batches;
  return batch_is_sound(count, m, n, 32) ? svd(h, CUDA_R_64F, vectors, false, m, n, a, ld, s, u,
                                               ldu, v, ldv, work, workspace, info, j, count)
                                         : CUSOLVER_STATUS_INVALID_VALUE;
}

}  // extern "C"
