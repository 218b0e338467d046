// Windows as columns: rows are copied or added as a whole where the stride is 1.
#include "../fold.h"

#include <algorithm>

#include "../host_device.h"
#include "../parallel.h"
#include "scratch.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

// The windows [first, last) whose element k lies inside the image, along the width.
struct Inside {
  Index first, last;
};
Inside inside(const FoldShape& s, Index k) {
  const Index start = s.position(1, k, 0), step = s.stride[1], count = s.windows[1];
  const Index first = start < 0 ? (-start + step - 1) / step : 0;
  const Index last = start >= s.image[1] ? 0 : (s.image[1] - 1 - start) / step + 1;
  return {std::min(first, count), std::clamp(last, std::min(first, count), count)};
}

// Calls f(plane, kernel row, kernel column) for what a range of items names; a plane has an item
// for each element of its kernel.
template <class F>
void each_plane(const FoldShape& s, F f) {
  const Index work = std::max<Index>(s.column(), 1);
  parallel_for(s.planes, 1 + 65536 / work, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) f(p);
  });
}

template <class S>
CLONES void copy_row(const S* x, Index stride, Index n, S* out) {
  for (Index i = 0; i < n; ++i) out[i] = x[i * stride];
}
template <class S, class T>
CLONES void add_row(const S* x, Index stride, Index n, T* out) {
  if (stride == 1)
    for (Index i = 0; i < n; ++i) out[i] += T(load(x + i));
  else
    for (Index i = 0; i < n; ++i) out[i * stride] += T(load(x + i));
}

void unfold(const FoldShape& s, const View& image, const View& columns) {
  dispatch_size(image.dtype, [&]<class S>(Type<S>) {
    each_plane(s, [&](Index p) {
      const S* x = image.as<S>() + p * s.plane();
      S* out = columns.as<S>() + p * s.column();
      for (Index i = 0; i < s.kernel[0]; ++i)
        for (Index j = 0; j < s.kernel[1]; ++j) {
          const Inside in = inside(s, j);
          for (Index r = 0; r < s.windows[0]; ++r, out += s.windows[1]) {
            const Index h = s.position(0, i, r);
            if (h < 0 || h >= s.image[0] || in.first >= in.last) {
              std::fill_n(out, s.windows[1], S{});
              continue;
            }
            std::fill_n(out, in.first, S{});
            const S* from = x + h * s.image[1] + s.position(1, j, in.first);
            if (s.stride[1] == 1)
              std::copy_n(from, in.last - in.first, out + in.first);
            else
              copy_row(from, s.stride[1], in.last - in.first, out + in.first);
            std::fill_n(out + in.last, s.windows[1] - in.last, S{});
          }
        }
    });
  });
}

template <class S, class T>
void fold_planes(const FoldShape& s, const S* columns, S* image) {
  each_plane(s, [&](Index p) {
    Scratch<T> wide(std::is_same_v<S, T> ? 1 : std::max<Index>(s.plane(), 1));
    T* sums = wide.data();
    if constexpr (std::is_same_v<S, T>) sums = image + p * s.plane();
    std::fill_n(sums, s.plane(), T(0));
    const S* x = columns + p * s.column();
    for (Index i = 0; i < s.kernel[0]; ++i)
      for (Index j = 0; j < s.kernel[1]; ++j) {
        const Inside in = inside(s, j);
        for (Index r = 0; r < s.windows[0]; ++r, x += s.windows[1]) {
          const Index h = s.position(0, i, r);
          if (h >= 0 && h < s.image[0] && in.first < in.last)
            add_row(x + in.first, s.stride[1], in.last - in.first,
                    sums + h * s.image[1] + s.position(1, j, in.first));
        }
      }
    if constexpr (!std::is_same_v<S, T>)
      for (Index i = 0; i < s.plane(); ++i) store(image + p * s.plane() + i, Compute<S>(sums[i]));
  });
}

void fold(const FoldShape& s, const View& columns, const View& image) {
  if (image.dtype == DType::boolean)  // true where any is
    return fold_planes<bool, std::uint8_t>(s, columns.as<bool>(), image.as<bool>());
  dispatch_floating(image.dtype, [&]<class S>(Type<S>) {
    fold_planes<S, Compute<S>>(s, columns.as<S>(), image.as<S>());
  });
}

}  // namespace

const FoldKernels cpu_fold = {unfold, fold};

}  // namespace rushlight
