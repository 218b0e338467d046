// Weight gradient of depthwise convolution: one sum of products per tap, lanes are columns.
#include <algorithm>
#include <numeric>

#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kLanes = 8;
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));

// sums[kw][lane] += rows of grad times rows of x, shifted by each tap.
template <int K>
CLONES void tap_row(const float* x, Index row, const int* off, const float* grad, Index width,
                    Index rows, float* sums) {
  Floats acc[K];
  for (int t = 0; t < K; ++t) acc[t] = *reinterpret_cast<Floats*>(sums + t * kLanes);
  for (; rows > 0; --rows, x += row, grad += width)
    for (Index q = 0; q < width; q += kLanes)
#pragma GCC unroll 8
      for (int t = 0; t < K; ++t)
        acc[t] += *reinterpret_cast<const Floats*>(grad + q) *
                  *reinterpret_cast<const Floats*>(x + off[t] + q);
  for (int t = 0; t < K; ++t) *reinterpret_cast<Floats*>(sums + t * kLanes) = acc[t];
}

}  // namespace

void depthwise_weight_gradient(const ConvShape& s, const float* x, const float* grad,
                               float* grad_weight) {
  const Axis rows = forward_axis(s, 1), cols = forward_axis(s, 2);
  const Index width = (cols.out + kLanes - 1) / kLanes * kLanes;
  const Index kh = s.kernel[1], kw = s.kernel[2], in = s.in[1] * s.in[2];
  const Correlation plane{1, 1, 1, rows, cols, {0, in, 1}, {}, 0, 0, 0, kh, kw, nullptr};
  const Columns columns(plane);
  std::vector<int> off;
  for (Index shift : cols.shift) {
    const Index at = shift + columns.left;
    off.push_back(int(at % cols.step * columns.width + at / cols.step));
  }
  constexpr decltype(&tap_row<1>) kernels[] = {tap_row<1>, tap_row<2>, tap_row<3>, tap_row<4>,
                                               tap_row<5>, tap_row<6>, tap_row<7>};
  parallel_for(s.c, 1, [&](Index begin, Index end) {
    Scratch<float> image(s.in[1] * columns.row + kLanes), grads(rows.out * width);
    Scratch<float> sums(kh * kw * kLanes);
    image.zero();
    grads.zero();
    for (Index c = begin; c < end; ++c) {
      sums.zero();
      for (Index n = 0; n < s.n; ++n) {
        columns.pack(plane, x + (n * s.c + c) * in, 0, s.in[1], image.data());
        const float* g = grad + (n * s.c + c) * rows.out * cols.out;
        for (Index h = 0; h < rows.out; ++h)
          for (Index q = 0; q < cols.out; ++q) grads[h * width + q] = g[h * cols.out + q];
        for (Index t = 0; t < kh; ++t) {
          Index h0 = 0, h1 = rows.out;
          while (h0 < h1 && h0 * rows.step + rows.shift[t] < 0) ++h0;
          while (h0 < h1 && (h1 - 1) * rows.step + rows.shift[t] >= rows.in) --h1;
          if (h0 == h1) continue;
          kernels[kw - 1](&image[(h0 * rows.step + rows.shift[t]) * columns.row],
                          rows.step * columns.row, off.data(), &grads[h0 * width], width, h1 - h0,
                          &sums[t * kw * kLanes]);
        }
      }
      for (Index i = 0; i < kh * kw; ++i)
        grad_weight[c * kh * kw + i] =
            std::accumulate(&sums[i * kLanes], &sums[(i + 1) * kLanes], 0.f);
    }
  });
}

}  // namespace rushlight::conv
