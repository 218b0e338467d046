// Weight gradient of depthwise convolution: one sum of products per tap, lanes are columns.
#include <algorithm>
#include <numeric>

#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

// sums[kw][lane] += rows of grad times rows of x, shifted by each tap.
template <int K, class T>
CLONES void tap_row(const T* x, Index row, const int* off, const T* grad, Index width, Index rows,
                    T* sums) {
  using Vector = typename Lanes<T>::type;
  constexpr Index lanes = kLanes<T>;
  Vector acc[K];
  for (int t = 0; t < K; ++t) acc[t] = *reinterpret_cast<Vector*>(sums + t * lanes);
  for (; rows > 0; --rows, x += row, grad += width)
    for (Index q = 0; q < width; q += lanes)
#pragma GCC unroll 8
      for (int t = 0; t < K; ++t)
        acc[t] += *reinterpret_cast<const Vector*>(grad + q) *
                  *reinterpret_cast<const Vector*>(x + off[t] + q);
  for (int t = 0; t < K; ++t) *reinterpret_cast<Vector*>(sums + t * lanes) = acc[t];
}

}  // namespace

template <class T>
void depthwise_weight_gradient(const ConvShape& s, const T* x, const T* grad, T* grad_weight) {
  constexpr Index lanes = kLanes<T>;
  const Axis rows = forward_axis(s, 1), cols = forward_axis(s, 2);
  const Index width = (cols.out + lanes - 1) / lanes * lanes;
  const Index kh = s.kernel[1], kw = s.kernel[2], in = s.in[1] * s.in[2];
  const Correlation plane{1, 1, 1, rows, cols, {0, in, 1}, {}, 0, 0, 0, kh, kw, nullptr};
  const Columns columns(plane);
  std::vector<int> off;
  for (Index shift : cols.shift) {
    const Index at = shift + columns.left;
    off.push_back(int(at % cols.step * columns.width + at / cols.step));
  }
  constexpr decltype(&tap_row<1, T>) kernels[] = {tap_row<1, T>, tap_row<2, T>, tap_row<3, T>,
                                                  tap_row<4, T>, tap_row<5, T>, tap_row<6, T>,
                                                  tap_row<7, T>};
  parallel_for(s.c, 1, [&](Index begin, Index end) {
    Scratch<T> image(s.in[1] * columns.row + lanes), grads(rows.out * width);
    Scratch<T> sums(kh * kw * lanes);
    image.zero();
    grads.zero();
    for (Index c = begin; c < end; ++c) {
      sums.zero();
      for (Index n = 0; n < s.n; ++n) {
        columns.pack(plane, x + (n * s.c + c) * in, 0, 0, s.in[1], image.data());
        const T* g = grad + (n * s.c + c) * rows.out * cols.out;
        for (Index h = 0; h < rows.out; ++h)
          for (Index q = 0; q < cols.out; ++q) grads[h * width + q] = g[h * cols.out + q];
        for (Index t = 0; t < kh; ++t) {
          Index h0 = 0, h1 = rows.out;
          while (h0 < h1 && h0 * rows.step + rows.shift[t] < 0) ++h0;
          while (h0 < h1 && (h1 - 1) * rows.step + rows.shift[t] >= rows.in) --h1;
          if (h0 == h1) continue;
          kernels[kw - 1](&image[(h0 * rows.step + rows.shift[t]) * columns.row],
                          rows.step * columns.row, off.data(), &grads[h0 * width], width, h1 - h0,
                          &sums[t * kw * lanes]);
        }
      }
      for (Index i = 0; i < kh * kw; ++i)
        grad_weight[c * kh * kw + i] =
            std::accumulate(&sums[i * lanes], &sums[(i + 1) * lanes], T(0));
    }
  });
}

template void depthwise_weight_gradient(const ConvShape&, const float*, const float*, float*);
template void depthwise_weight_gradient(const ConvShape&, const double*, const double*, double*);

}  // namespace rushlight::conv
