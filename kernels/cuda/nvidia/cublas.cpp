// Triangular systems, and factors of batches of small matrices, by cuBLAS. Nothing waits for the
// device: info stays there.
#include "cublas.h"

#include <mutex>
#include <type_traits>

#include "factors.h"
#include "kernels/cuda/runtime/devices.h"
#include "plans.h"
#include "pointers.h"

namespace rushlight::gpu {
namespace cublas {

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "cuBLAS",
      .name = "cublas",
      .soname = "libcublas.so.13",
      .variable = "RUSHLIGHT_CUBLAS_LIBRARY",
      .package = "nvidia-cublas",
      .needs = {"cublasLt"},
      .floor = 130000,
      .version =
          [](void* f) {
            const auto get = reinterpret_cast<decltype(Functions::get_property)>(f);
            int major = 0, minor = 0, patch = 0;
            get(MAJOR_VERSION, &major);
            get(MINOR_VERSION, &minor);
            get(PATCH_LEVEL, &patch);
            return major * 10000 + minor * 100 + patch;
          },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

}  // namespace cublas

namespace {

using namespace cublas;

constexpr std::size_t kWorkspace = std::size_t(4) << 20;

struct PerDevice {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;
};

// The device's handle on the current stream, for one thread at a time, with a workspace that
// belongs to the stream: cuBLAS's own would be shared by all streams of the handle.
class Session {
 public:
  explicit Session(const char* op)
      : here_(per_device<PerDevice>(current().device)),
        lock_(here_.mutex),
        workspace_(Index(kWorkspace), op) {
    if (!here_.handle) check(f.create(&here_.handle), "cublasCreate_v2");
    handle = here_.handle;
    check(f.set_stream(handle, current().stream), "cublasSetStream_v2");
    check(f.set_workspace(handle, workspace_.data(), kWorkspace), "cublasSetWorkspace_v2");
  }
  void check(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      fail_call(Functions::kind(), "CUDA", f.status_name(status), call);
  }
  const Functions& f = *functions<Functions>();
  cublasHandle_t handle;

 private:
  PerDevice& here_;
  const std::lock_guard<std::mutex> lock_;
  const Scratch<char> workspace_;
};

int rows_of(const View& v) { return int(v.sizes[1] > 1 ? v.sizes[1] : 1); }

}  // namespace

const char* why_no_cublas() {
  const Library& found = library(Functions::kind());
  return found.version ? nullptr : found.words.c_str();
}

void factor_lu_batch(const View& a, const View& pivots, const View& info) {
  const Session on("lu_factor");
  const Pointers matrices(a, "lu_factor");
  const int n = int(a.sizes[1]), wide = a.dtype == DType::float64;
  each_part(a.sizes[0], [&](Index first, int count) {
    on.check(on.f.getrf_batched[wide](on.handle, n, matrices[first], rows_of(a),
                                      pivots.as<int>() + first * n, info.as<int>() + first, count),
             wide ? "cublasDgetrfBatched" : "cublasSgetrfBatched");
  });
  finish_launch(cudaSuccess, "lu_factor");
}

void factor_qr_batch(const View& a, const View& tau) {
  const Session on("qr");
  const Pointers matrices(a, "qr"), taus(tau, "qr");
  const int wide = a.dtype == DType::float64;
  each_part(a.sizes[0], [&](Index first, int count) {
    int info = 0;
    on.check(on.f.geqrf_batched[wide](on.handle, int(a.sizes[1]), int(a.sizes[2]), matrices[first],
                                      rows_of(a), taus[first], &info, count),
             wide ? "cublasDgeqrfBatched" : "cublasSgeqrfBatched");
  });
  finish_launch(cudaSuccess, "qr");
}

void solve_triangular(const View& a, const View& b, bool upper, bool unit, bool transposed) {
  const Session on("solve_triangular");
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto diagonal = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const Index batch = a.sizes[0];
  const int n = int(b.sizes[1]), columns = int(b.sizes[2]);
  const auto solve = [&]<class T>(Type<T>) {
    constexpr int wide = std::is_same_v<T, double>;
    const T one = 1;
    if (batch > 1 && n <= kMostSide) {
      const Pointers left(a, "solve_triangular"), right(b, "solve_triangular");
      each_part(batch, [&](Index first, int count) {
        on.check(on.f.trsm_batched[wide](on.handle, CUBLAS_SIDE_LEFT, fill, operation, diagonal, n,
                                         columns, &one, left[first], rows_of(a), right[first],
                                         rows_of(b), count),
                 wide ? "cublasDtrsmBatched" : "cublasStrsmBatched");
      });
    } else {
      for (Index i = 0; i < batch; ++i)
        on.check(on.f.trsm[wide](on.handle, CUBLAS_SIDE_LEFT, fill, operation, diagonal, n, columns,
                                 &one, a.as<const T>() + i * a.strides[0], rows_of(a),
                                 b.as<T>() + i * b.strides[0], rows_of(b)),
                 wide ? "cublasDtrsm_v2" : "cublasStrsm_v2");
    }
  };
  a.dtype == DType::float64 ? solve(Type<double>{}) : solve(Type<float>{});
  finish_launch(cudaSuccess, "solve_triangular");
}

}  // namespace rushlight::gpu
