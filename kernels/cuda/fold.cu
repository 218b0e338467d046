// Windows as columns, and back: a thread an element of the result, so that nothing is added by two.
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class S>
__global__ void unfold_items(FoldShape s, const S* image, S* columns) {
  const Index w = s.windows[1], h = s.windows[0], kw = s.kernel[1], kh = s.kernel[0];
  for (Index i = first_item(); i < s.planes * s.column(); i += stride()) {
    const Index y = s.position(0, i / (w * h * kw) % kh, i / w % h),
                x = s.position(1, i / (w * h) % kw, i % w);
    const bool inside = y >= 0 && y < s.image[0] && x >= 0 && x < s.image[1];
    columns[i] = inside ? image[i / s.column() * s.plane() + y * s.image[1] + x] : S{};
  }
}

// The window of an axis whose element k lies at `at`, or -1.
__device__ Index window_at(const FoldShape& s, int axis, Index k, Index at) {
  const Index from = at + s.padding[axis] - k * s.dilation[axis];
  if (from < 0 || from % s.stride[axis] != 0) return -1;
  const Index q = from / s.stride[axis];
  return q < s.windows[axis] ? q : -1;
}

template <class C>
__global__ void fold_items(FoldShape s, Reader<C> columns, Writer<C> image) {
  for (Index i = first_item(); i < s.planes * s.plane(); i += stride()) {
    const Index y = i / s.image[1] % s.image[0], x = i % s.image[1],
                start = i / s.plane() * s.column();
    C sum = 0;
    for (Index a = 0; a < s.kernel[0]; ++a) {
      const Index r = window_at(s, 0, a, y);
      for (Index b = 0; r >= 0 && b < s.kernel[1]; ++b) {
        const Index c = window_at(s, 1, b, x);
        if (c >= 0)
          sum += columns[start + ((a * s.kernel[1] + b) * s.windows[0] + r) * s.windows[1] + c];
      }
    }
    image.set(i, sum);
  }
}

void unfold(const FoldShape& s, const View& image, const View& columns) {
  dispatch_size(image.dtype, [&]<class S>(Type<S>) {
    launch_items("im2col", unfold_items<S>, columns.numel, s, image.as<const S>(), columns.as<S>());
  });
}

void fold(const FoldShape& s, const View& columns, const View& image) {
  compute_any(image.dtype, [&]<class C>(Type<C>) {
    launch_items("col2im", fold_items<C>, image.numel, s, Reader<C>(columns), Writer<C>(image));
  });
}

}  // namespace

const FoldKernels fold_kernels = {unfold, fold};

}  // namespace rushlight::gpu
