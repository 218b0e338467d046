// Factorisations by cuSOLVER, one matrix of the batch after the other, or all at once where it has
// a function for that. Nothing waits for the device: info stays there.
#include "cusolver.h"

#include <mutex>
#include <vector>

#include "factors.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/devices.h"
#include "plans.h"
#include "pointers.h"

namespace rushlight::gpu {
namespace cusolver {

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "cuSOLVER",
      .name = "cusolver",
      .soname = "libcusolver.so.12",
      .variable = "RUSHLIGHT_CUSOLVER_LIBRARY",
      .package = "nvidia-cusolver",
      .needs = {},
      .floor = 120000,  // the first for CUDA 13
      .version =
          [](void* f) {
            int version = 0;  // 1000 * major + 100 * minor + patch
            reinterpret_cast<cusolverStatus_t (*)(int*)>(f)(&version);
            return version / 1000 * 10000 + version / 100 % 10 * 100 + version % 100;
          },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

}  // namespace cusolver

namespace {

using namespace cusolver;

void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  constexpr const char* words[] = {"",
                                   "NOT_INITIALIZED",
                                   "ALLOC_FAILED",
                                   "INVALID_VALUE",
                                   "ARCH_MISMATCH",
                                   "MAPPING_ERROR",
                                   "EXECUTION_FAILED",
                                   "INTERNAL_ERROR",
                                   "MATRIX_TYPE_NOT_SUPPORTED",
                                   "NOT_SUPPORTED"};
  const bool known = status > 0 && status < 10;
  const std::string name =
      std::string("CUSOLVER_STATUS_") + (known ? words[status] : std::to_string(status));
  fail_call(Functions::kind(), "cusolver", name.c_str(), call);
}

struct PerDevice {
  std::mutex mutex;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t options = nullptr;
  gesvdjInfo_t jacobi = nullptr;
};

// The device's handle on the current stream, for one thread at a time.
class Session {
 public:
  Session() : here_(per_device<PerDevice>(current().device)), lock_(here_.mutex) {
    if (!here_.handle) {
      check(f.create_options(&here_.options), "cusolverDnCreateParams");
      check(f.create_jacobi(&here_.jacobi), "cusolverDnCreateGesvdjInfo");
      check(f.create(&here_.handle), "cusolverDnCreate");
    }
    check(f.set_stream(here_.handle, current().stream), "cusolverDnSetStream");
    handle = here_.handle;
    options = here_.options;
    jacobi = here_.jacobi;
  }
  const Functions& f = *functions<Functions>();
  cusolverDnHandle_t handle;
  cusolverDnParams_t options;
  gesvdjInfo_t jacobi;

 private:
  PerDevice& here_;
  const std::lock_guard<std::mutex> lock_;
};

// A batch of matrices, or of rows (one column then), in dense memory.
struct Batch {
  explicit Batch(const View& v)
      : count(v.sizes[0]),
        rows(v.sizes[1]),
        columns(v.rank == 3 ? v.sizes[2] : 1),
        ld(rows > 1 ? rows : 1),
        element(v.dtype == DType::float64 ? CUDA_R_64F : CUDA_R_32F),
        data_(v.as<char>()),
        step_(rows * columns * Index(item_size(v.dtype))) {}
  void* operator[](Index i) const { return data_ ? data_ + i * step_ : nullptr; }
  Index count, rows, columns, ld;
  cudaDataType_t element;

 private:
  char* data_;
  Index step_;
};

// How many matrices go into one call, where there is one for several: of 32768 it has refused some,
// and it takes workspace for all.
Index together(const Batch& m) {
  constexpr Index most = 16384, elements = Index(1) << 26;
  const Index fit = elements / (m.rows * m.columns);
  const Index wanted = fit < most ? fit : most;
  return m.count < wanted ? m.count : wanted;
}

// What a factorisation works in, on both sides.
struct Workspace {
  Workspace(Bytes on_device, Bytes on_host, const char* op)
      : device(Index(on_device), op), host(on_host), bytes(on_device) {}
  Scratch<char> device;
  std::vector<char> host;
  Bytes bytes;
};

}  // namespace

const char* why_no_cusolver() {
  const Library& found = library(Functions::kind());
  return found.version ? nullptr : found.words.c_str();
}

void factor_lu(const View& a, const View& pivots, const View& info) {
  const Session on;
  const Batch m(a);
  Bytes device = 0, host = 0;
  check(on.f.lu_workspace(on.handle, on.options, m.rows, m.columns, m.element, m[0], m.ld,
                          m.element, &device, &host),
        "cusolverDnXgetrf_bufferSize");
  Workspace workspace(device, host, "lu_factor");
  const Scratch<Index> wide(pivots.numel, "lu_factor");
  for (Index i = 0; i < m.count; ++i)
    check(
        on.f.lu(on.handle, on.options, m.rows, m.columns, m.element, m[i], m.ld,
                wide.data() + i * pivots.sizes[1], m.element, workspace.device.data(),
                workspace.bytes, workspace.host.data(), workspace.host.size(), info.as<int>() + i),
        "cusolverDnXgetrf");
  View from = pivots;
  from.data = wide.data();
  from.dtype = DType::int64;
  copy_kernels.copy(pivots, from);
}

void factor_cholesky(const View& a, bool upper, const View& info) {
  const Session on;
  const Batch m(a);
  const cublasFillMode_t triangle = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  if (m.count > 1 && m.rows <= kMostSide) {
    const Pointers matrices(a, "cholesky");
    each_part(m.count, [&](Index first, int count) {
      check(on.f.cholesky_batch[m.element](on.handle, triangle, int(m.rows), matrices[first],
                                           int(m.ld), info.as<int>() + first, count),
            m.element ? "cusolverDnDpotrfBatched" : "cusolverDnSpotrfBatched");
    });
    return finish_launch(cudaSuccess, "cholesky");
  }
  Bytes device = 0, host = 0;
  check(on.f.cholesky_workspace(on.handle, on.options, triangle, m.rows, m.element, m[0], m.ld,
                                m.element, &device, &host),
        "cusolverDnXpotrf_bufferSize");
  Workspace workspace(device, host, "cholesky");
  for (Index i = 0; i < m.count; ++i)
    check(on.f.cholesky(on.handle, on.options, triangle, m.rows, m.element, m[i], m.ld, m.element,
                        workspace.device.data(), workspace.bytes, workspace.host.data(),
                        workspace.host.size(), info.as<int>() + i),
          "cusolverDnXpotrf");
  finish_launch(cudaSuccess, "cholesky");
}

void factor_qr(const View& a, const View& tau) {
  const Session on;
  const Batch m(a), t(tau);
  Bytes device = 0, host = 0;
  check(on.f.qr_workspace(on.handle, on.options, m.rows, m.columns, m.element, m[0], m.ld,
                          m.element, t[0], m.element, &device, &host),
        "cusolverDnXgeqrf_bufferSize");
  Workspace workspace(device, host, "qr");
  const Scratch<int> info(1, "qr");  // it says only which argument was wrong
  for (Index i = 0; i < m.count; ++i)
    check(on.f.qr(on.handle, on.options, m.rows, m.columns, m.element, m[i], m.ld, m.element, t[i],
                  m.element, workspace.device.data(), workspace.bytes, workspace.host.data(),
                  workspace.host.size(), info.data()),
          "cusolverDnXgeqrf");
  finish_launch(cudaSuccess, "qr");
}

void multiply_reflections(const View& a, const View& tau) {
  const Session on;
  const Batch m(a), t(tau);
  const int rows = int(m.rows), columns = int(m.columns), k = int(t.rows), ld = int(m.ld),
            which = int(m.element);
  int workspace = 0;
  check(on.f.reflections_workspace[which](on.handle, rows, columns, k, m[0], ld, t[0], &workspace),
        "cusolverDnorgqr_bufferSize");
  const Scratch<char> work(Index(workspace) * Index(item_size(a.dtype)), "householder_product");
  const Scratch<int> info(1, "householder_product");
  for (Index i = 0; i < m.count; ++i)
    check(on.f.reflections[which](on.handle, rows, columns, k, m[i], ld, t[i], work.data(),
                                  workspace, info.data()),
          "cusolverDnorgqr");
  finish_launch(cudaSuccess, "householder_product");
}

void find_eigenvectors(const View& a, const View& values, bool vectors, bool upper,
                       const View& info) {
  const Session on;
  const Batch m(a), w(values);
  const cusolverEigMode_t wanted = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const cublasFillMode_t triangle = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  Bytes device = 0, host = 0;
  if (m.count == 1 || m.rows > kMostSide) {
    check(on.f.eigen_workspace(on.handle, on.options, wanted, triangle, m.rows, m.element, m[0],
                               m.ld, m.element, w[0], m.element, &device, &host),
          "cusolverDnXsyevd_bufferSize");
    Workspace workspace(device, host, "eigh");
    for (Index i = 0; i < m.count; ++i)
      check(on.f.eigen(on.handle, on.options, wanted, triangle, m.rows, m.element, m[i], m.ld,
                       m.element, w[i], m.element, workspace.device.data(), workspace.bytes,
                       workspace.host.data(), workspace.host.size(), info.as<int>() + i),
            "cusolverDnXsyevd");
  } else {
    const Index several = together(m);
    check(
        on.f.eigen_batch_workspace(on.handle, on.options, wanted, triangle, m.rows, m.element, m[0],
                                   m.ld, m.element, w[0], m.element, &device, &host, several),
        "cusolverDnXsyevBatched_bufferSize");
    Workspace workspace(device, host, "eigh");
    for (Index i = 0; i < m.count; i += several)
      check(on.f.eigen_batch(on.handle, on.options, wanted, triangle, m.rows, m.element, m[i], m.ld,
                             m.element, w[i], m.element, workspace.device.data(), workspace.bytes,
                             workspace.host.data(), workspace.host.size(), info.as<int>() + i,
                             m.count - i < several ? m.count - i : several),
            "cusolverDnXsyevBatched");
  }
  finish_launch(cudaSuccess, "eigh");
}

namespace {

// a = u s v^T, all columns of u and v or the first ones, into matrices that have workspace for
// those.
void decompose(const View& a, const View& u, const View& s, const View& v, bool thin,
               const View& info) {
  const Session on;
  const Batch m(a), left(u), values(s), right(v);
  const cusolverEigMode_t wanted = u.data ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const int rows = int(m.rows), columns = int(m.columns), ld = int(m.ld), which = int(m.element);
  int workspace = 0;
  check(on.f.svd_workspace[which](on.handle, wanted, thin, rows, columns, m[0], ld, values[0],
                                  left[0], rows, right[0], columns, &workspace, on.jacobi),
        "cusolverDngesvdj_bufferSize");
  const Scratch<char> work(Index(workspace) * Index(item_size(a.dtype)), "svd");
  for (Index i = 0; i < m.count; ++i)
    check(
        on.f.svd[which](on.handle, wanted, thin, rows, columns, m[i], ld, values[i], left[i], rows,
                        right[i], columns, work.data(), workspace, info.as<int>() + i, on.jacobi),
        "cusolverDngesvdj");
}
// The same of small matrices, all columns.
void decompose_together(const View& a, const View& u, const View& s, const View& v,
                        const View& info) {
  const Session on;
  const Batch m(a), left(u), values(s), right(v);
  const cusolverEigMode_t wanted = u.data ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const int rows = int(m.rows), columns = int(m.columns), ld = int(m.ld), which = int(m.element);
  const auto several = int(together(m));
  int workspace = 0;
  check(on.f.svd_batch_workspace[which](on.handle, wanted, rows, columns, m[0], ld, values[0],
                                        left[0], rows, right[0], columns, &workspace, on.jacobi,
                                        several),
        "cusolverDngesvdjBatched_bufferSize");
  const Scratch<char> work(Index(workspace) * Index(item_size(a.dtype)), "svd");
  for (Index i = 0; i < m.count; i += several)
    check(on.f.svd_batch[which](on.handle, wanted, rows, columns, m[i], ld, values[i], left[i],
                                rows, right[i], columns, work.data(), workspace, info.as<int>() + i,
                                on.jacobi, m.count - i < several ? int(m.count - i) : several),
          "cusolverDngesvdjBatched");
}

}  // namespace

void find_singular_vectors(const View& a, const View& u, const View& s, const View& vt,
                           const View& info) {
  const Index batch = a.sizes[0], rows = a.sizes[1], columns = a.sizes[2],
              bytes = Index(item_size(a.dtype));
  const bool at_once = batch > 1 && rows <= kMostBatchSide && columns <= kMostBatchSide;
  const auto run = [&](const View& left, const View& right, bool thin) {
    if (at_once)
      decompose_together(a, left, s, right, info);
    else
      decompose(a, left, s, right, thin, info);
    finish_launch(cudaSuccess, "svd");
  };
  if (!u.data)
    return run(matrices_in(nullptr, a, rows, 0), matrices_in(nullptr, a, columns, 0), true);
  const Index k = s.sizes[1], of_u = at_once ? rows : u.sizes[2],
              of_v = at_once ? columns : vt.sizes[1];
  const bool in_place = of_u == u.sizes[2];
  const Scratch<char> for_u(in_place ? 0 : batch * rows * of_u * bytes, "svd");
  const Scratch<char> for_v(batch * columns * of_v * bytes, "svd");
  const View left = in_place ? u : matrices_in(for_u.data(), a, rows, of_u);
  View right = matrices_in(for_v.data(), a, columns, of_v);
  run(left, right, u.sizes[2] == k && vt.sizes[1] == k);
  if (!in_place) {
    View first = left;
    first.sizes[2] = u.sizes[2];
    first.numel = u.numel;
    copy_kernels.copy(u, first);
  }
  std::swap(right.strides[1], right.strides[2]);
  right.sizes[1] = vt.sizes[1];
  right.sizes[2] = columns;
  right.numel = vt.numel;
  copy_kernels.copy(vt, right);
}

}  // namespace rushlight::gpu
