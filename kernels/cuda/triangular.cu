// Triangles: a thread an element.
#include "../triangular.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class S>
__global__ void keep_items(Strided<2> items, Triangle triangle, S* out, const S* in) {
  for (Index i = first_item(); i < items.numel; i += stride()) {
    Index at[2];
    items.at(i, at);
    const Index line = divided(i, triangle.columns);
    const Index row = line - divided(line, triangle.rows) * triangle.rows;
    const bool holds = triangle.holds(row, i - line * triangle.columns);
    out[at[0]] = holds ? in[at[1]] : S(0);
  }
}

void keep(const View& out, const View& in, const Triangle& triangle) {
  Strided<2> items;
  for (int d = out.rank - 1; d >= 0; --d) items.add(out.sizes[d], out.strides[d], in.strides[d]);
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items(triangle.lower ? "tril" : "triu", keep_items<S>, items.numel, items, triangle,
                 out.as<S>(), in.as<const S>());
  });
}

// The row of element i by bisection: the last one that has at most i elements before it.
__global__ void index_items(Triangle triangle, Index count, Index* rows, Index* columns) {
  for (Index i = first_item(); i < count; i += stride()) {
    Index low = 0, high = triangle.rows;
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      if (triangle.count_before(middle) <= i)
        low = middle;
      else
        high = middle;
    }
    rows[i] = low;
    columns[i] = triangle.begin(low) + i - triangle.count_before(low);
  }
}

void indices(const View& out, const Triangle& triangle) {
  const Index count = out.sizes[1];
  launch_items("triangle_indices", index_items, count, triangle, count, out.as<Index>(),
               out.as<Index>() + count);
}

}  // namespace

const TriangularKernels triangular_kernels = {keep, indices};

}  // namespace rushlight::gpu
