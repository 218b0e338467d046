// QR, and the product of its reflections, for matrices of any size: 32 columns at a time, whose
// reflections together are I - V T V^T (Schreiber and Van Loan 1989), so that nearly all of the
// work are products. All of a batch at once.
#include "kernels/cuda/nvidia/factors.h"
#include "kernels/cuda/nvidia/products.h"
#include "linalg_batch.h"

namespace rushlight::gpu {
namespace {

constexpr Index kPanel = kWarp;  // columns

// R above the diagonal and V below it, in a panel of any height: a block for each, and a warp for
// each of the columns that a reflection meets. Those of matrix i go to taus + i * tau_step.
template <class T>
__global__ void qr_of_panel(Batch<T> b, T* taus, Index tau_step) {
  const int t = threadIdx.x, lane = t % kWarp, warp = t / kWarp;
  for (Index i = blockIdx.x; i < b.count; i += gridDim.x)
    for (Index j = 0; j < b.columns && j < b.rows; ++j) {
      T* x = b.column(i, j);
      T scale = 0;
      for (Index r = j + t; r < b.rows; r += kThreads) scale = Larger()(magnitude(x[r]), scale);
      scale = block_reduce(scale, Larger(), shared_memory<T>());
      T rest = 0;
      for (Index r = j + 1 + t; r < b.rows; r += kThreads) rest += x[r] / scale * (x[r] / scale);
      const T first = x[j];
      rest = block_reduce(rest, Add(), shared_memory<T>());  // all have read the first by then
      const bool reflects = rest != T(0) && scale != T(0);
      const T length = scale * sqrt(first / scale * (first / scale) + rest);
      const T corner = !reflects ? first : first > T(0) ? -length : length;
      const T tau = reflects ? (corner - first) / corner : T(0);
      for (Index r = j + 1 + t; r < b.rows && reflects; r += kThreads) x[r] /= first - corner;
      if (t == 0) {
        x[j] = corner;
        taus[i * tau_step + j] = tau;
      }
      __syncthreads();
      for (Index c = j + 1 + warp; c < b.columns; c += kThreads / kWarp) {
        T* y = b.column(i, c);
        T along = 0;
        for (Index r = j + lane; r < b.rows; r += kWarp) along += (r == j ? T(1) : x[r]) * y[r];
        for (int by = kWarp / 2; by > 0; by /= 2) along += __shfl_xor_sync(0xffffffffu, along, by);
        for (Index r = j + lane; r < b.rows; r += kWarp)
          y[r] -= tau * along * (r == j ? T(1) : x[r]);
      }
      __syncthreads();
    }
}

// v := V with its ones and zeros, from a panel.
template <class T>
__global__ void unpack_reflections(Batch<T> panel, Batch<T> v) {
  for (Index line = blockIdx.y; line < v.count * v.columns; line += gridDim.y) {
    const Index i = line / v.columns, c = line % v.columns;
    for (Index r = first_item(); r < v.rows; r += stride())
      v.column(i, c)[r] = r > c ? panel.column(i, c)[r] : r == c ? T(1) : T(0);
  }
}

// Columns `first` and on of a larger matrix := those of the identity.
template <class T>
__global__ void set_identity(Batch<T> b, Index first) {
  for (Index line = blockIdx.y; line < b.count * b.columns; line += gridDim.y) {
    const Index i = line / b.columns, c = line % b.columns;
    for (Index r = first_item(); r < b.rows; r += stride())
      b.column(i, c)[r] = r == first + c ? T(1) : T(0);
  }
}

// T from the products V^T V: a warp for each, a lane for each row, which needs no other.
template <class T>
__global__ void join_reflections(Batch<T> products, const T* taus, Index tau_step,
                                 Batch<T> joined) {
  const Index row = threadIdx.x;
  for (Index i = blockIdx.x; i < joined.count; i += gridDim.x)
    for (Index j = 0; j < joined.columns && row < joined.rows; ++j) {
      const T tau = taus[i * tau_step + j];
      T sum = row == j ? T(-1) : T(0);
      for (Index k = row; k < j; ++k) sum += joined.column(i, k)[row] * products.column(i, j)[k];
      joined.column(i, j)[row] = -tau * sum;
    }
}

// Matrices for the length of a call, as many as `like` has.
struct Matrices {
  Matrices(const View& like, Index rows, Index columns, const char* op)
      : memory(like.sizes[0] * rows * columns * Index(item_size(like.dtype)), op),
        view(matrices_in(memory.data(), like, rows, columns)) {}
  const Scratch<char> memory;
  const View view;
};

// The reflections of a panel as one product.
class Reflections {
 public:
  Reflections(const View& panel, const View& tau, Index first, const char* op)
      : op_(op),
        v_(panel, panel.sizes[1], panel.sizes[2], op),
        t_(panel, panel.sizes[2], panel.sizes[2], op) {
    const Matrices products(panel, panel.sizes[2], panel.sizes[2], op);
    compute_floating(panel.dtype, [&]<class T>(Type<T>) {
      launch(op, unpack_reflections<T>, grid_of_columns(v_.view), kThreads, 0, Batch<T>(panel),
             Batch<T>(v_.view));
      multiply_exactly(turned(v_.view), v_.view, products.view, 1, 0);
      launch(op, join_reflections<T>, blocks_for(panel.sizes[0], 1), kWarp, 0,
             Batch<T>(products.view), tau.as<const T>() + first, tau.sizes[1], Batch<T>(t_.view));
    });
  }
  // c := the product with c, or with its transpose.
  void meet(const View& c, bool transposed) const {
    const Matrices along(c, t_.view.sizes[1], c.sizes[2], op_),
        scaled(c, t_.view.sizes[1], c.sizes[2], op_);
    multiply_exactly(turned(v_.view), c, along.view, 1, 0);
    multiply_exactly(transposed ? turned(t_.view) : t_.view, along.view, scaled.view, 1, 0);
    multiply_exactly(v_.view, scaled.view, c, -1, 1);
  }

 private:
  const char* op_;
  Matrices v_, t_;
};

}  // namespace

void factor_qr_in_panels(const View& a, const View& tau) {
  const Index m = a.sizes[1], n = a.sizes[2], k = tau.sizes[1];
  for (Index first = 0; first < k; first += kPanel) {
    const Index width = k - first < kPanel ? k - first : kPanel, rest = n - first - width;
    const View panel = part(a, first, m - first, first, width);
    compute_floating(a.dtype, [&]<class T>(Type<T>) {
      launch("qr", qr_of_panel<T>, blocks_for(a.sizes[0], 1), kThreads,
             sizeof(T) * kThreads / kWarp, Batch<T>(panel), tau.as<T>() + first, k);
    });
    if (rest > 0)
      Reflections(panel, tau, first, "qr")
          .meet(part(a, first, m - first, first + width, rest), true);
  }
}

void multiply_reflections_in_panels(const View& a, const View& tau) {
  const Index m = a.sizes[1], n = a.sizes[2], k = tau.sizes[1];
  const auto clear = [&](Index first, Index columns) {
    const View whole = part(a, 0, m, first, columns);
    if (columns > 0)
      compute_floating(a.dtype, [&]<class T>(Type<T>) {
        launch("householder_product", set_identity<T>, grid_of_columns(whole), kThreads, 0,
               Batch<T>(whole), first);
      });
  };
  clear(k, n - k);
  for (Index first = (k - 1) / kPanel * kPanel; first >= 0; first -= kPanel) {
    const Index width = k - first < kPanel ? k - first : kPanel;
    const Reflections all(part(a, first, m - first, first, width), tau, first,
                          "householder_product");
    clear(first, width);
    all.meet(part(a, first, m - first, first, n - first), false);
  }
}

}  // namespace rushlight::gpu
