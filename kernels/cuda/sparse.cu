// Products with sparse matrices: a thread for each entry and column adds to the result; a thread
// for each entry makes the product of two rows.
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class T>
__global__ void add_entries(const Index* rows, const Index* columns, const T* values,
                            const T* dense, T* out, Index entries, Index n, Index m, Index width,
                            Note* note) {
  for (Index i = first_item(); i < entries * width; i += stride()) {
    const Index e = i / width, k = i % width;
    const Index row = checked_index(note, Noted::index, rows[e], n);
    const Index column = checked_index(note, Noted::index, columns[e], m);
    atomicAdd(out + row * width + k, values[e] * dense[column * width + k]);
  }
}

template <class T>
__global__ void multiply_rows(const Index* rows, const Index* columns, const T* a, const T* b,
                              T* out, Index entries, Index n, Index m, Index width, Note* note) {
  for (Index e = first_item(); e < entries; e += stride()) {
    const T* x = a + checked_index(note, Noted::index, rows[e], n) * width;
    const T* y = b + checked_index(note, Noted::index, columns[e], m) * width;
    T sum(0);
    for (Index k = 0; k < width; ++k) sum += x[k] * y[k];
    out[e] = sum;
  }
}

template <class F>
void with_floats(DType d, F&& f) {
  d == DType::float64 ? f(Type<double>{}) : f(Type<float>{});
}

Index product(const View& rows, const View& columns, const View& values, const View& dense,
              const View& out) {
  with_floats(out.dtype, [&]<class T>(Type<T>) {
    launch_items("sparse_product", add_entries<T>, rows.numel * out.sizes[1],
                 rows.as<const Index>(), columns.as<const Index>(), values.as<const T>(),
                 dense.as<const T>(), out.as<T>(), rows.numel, out.sizes[0], dense.sizes[0],
                 out.sizes[1], current().note);
  });
  return -1;
}

Index dots(const View& rows, const View& columns, const View& a, const View& b, const View& out) {
  with_floats(out.dtype, [&]<class T>(Type<T>) {
    launch_items("sparse_dots", multiply_rows<T>, rows.numel, rows.as<const Index>(),
                 columns.as<const Index>(), a.as<const T>(), b.as<const T>(), out.as<T>(),
                 rows.numel, a.sizes[0], b.sizes[0], a.sizes[1], current().note);
  });
  return -1;
}

}  // namespace

const SparseKernels sparse_kernels = {product, dots};

}  // namespace rushlight::gpu
