// Convolution over three dimensions as correlations of planes: the planes that an output plane
// reads, of all channels, are the input channels of one planar correlation. For that they are laid
// out depth first, with planes of zeros where the window leaves the input.
#include <algorithm>

#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

// Calls f(from, to) for each plane: from[n][c][depth] and to[n][planes][c], where plane i of `to`
// is plane first + i * step of `from`; null where there is none.
template <class F>
void each_plane(Index n, Index c, Index depth, Index planes, Index first, Index step, F f) {
  parallel_for(n * planes * c, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index d = first + i / c % planes * step;
      f(d >= 0 && d < depth ? ((i / c / planes) * c + i % c) * depth + d : Index(-1), i);
    }
  });
}

void gather(Index n, Index c, Index depth, Index planes, Index first, Index step, Index plane,
            const float* x, float* to) {
  each_plane(n, c, depth, planes, first, step, [&](Index from, Index at) {
    if (from < 0)
      std::fill_n(to + at * plane, plane, 0.f);
    else
      std::copy_n(x + from * plane, plane, to + at * plane);
  });
}

void scatter(Index n, Index c, Index depth, Index plane, const float* from, float* y) {
  each_plane(n, c, depth, depth, 0, 1,
             [&](Index to, Index at) { std::copy_n(from + at * plane, plane, y + to * plane); });
}

}  // namespace

void volume_forward(const ConvShape& s, const float* x, const float* w, const float* bias,
                    float* y) {
  const Index plane = s.in[1] * s.in[2], result = s.result[1] * s.result[2], depth = s.kernel[0];
  const Index taps = s.kernel[1] * s.kernel[2], planes = (s.result[0] - 1) * s.stride[0] + depth;
  Scratch<float> weights(s.out * s.c * depth * taps), image(planes * s.c * plane),
      out(s.result[0] * s.out * result);
  gather(s.out, s.c, depth, depth, 0, 1, taps, w, weights.data());
  const Correlation planar{s.result[0],
                           depth * s.c,
                           s.out,
                           forward_axis(s, 1),
                           forward_axis(s, 2),
                           {s.stride[0] * s.c * plane, plane, 1},
                           {s.out * result, result, 1},
                           s.result[2],
                           taps,
                           depth * s.c * taps,
                           s.kernel[1],
                           s.kernel[2],
                           bias};
  for (Index n = 0; n < s.n; ++n) {
    gather(1, s.c, s.in[0], planes, -s.padding[0], 1, plane, x + n * s.c * s.in[0] * plane,
           image.data());
    correlate(planar, image.data(), weights.data(), out.data());
    scatter(1, s.out, s.result[0], result, out.data(), y + n * s.out * s.result[0] * result);
  }
}

void volume_input_gradient(const ConvShape& s, const float* grad, const float* w, const float* bias,
                           float* grad_x) {
  const Index plane = s.in[1] * s.in[2], result = s.result[1] * s.result[2], depth = s.kernel[0];
  const Index taps = s.kernel[1] * s.kernel[2], planes = s.in[0] + depth - 1;
  // the depth of the kernel backwards: weights[depth][out][c][taps]
  Scratch<float> weights(s.out * s.c * depth * taps), image(planes * s.out * result),
      out(s.in[0] * s.c * plane);
  gather(1, s.out * s.c, depth, depth, depth - 1, -1, taps, w, weights.data());
  for (Index n = 0; n < s.n; ++n) {
    gather(1, s.out, s.result[0], planes, s.padding[0] - (depth - 1), 1, result,
           grad + n * s.out * s.result[0] * result, image.data());
    for (Index a = 0; a < std::min(s.stride[1], s.in[1]); ++a)
      for (Index b = 0; b < std::min(s.stride[2], s.in[2]); ++b)
        correlate({s.in[0],
                   depth * s.out,
                   s.c,
                   gradient_axis(s, 1, a),
                   gradient_axis(s, 2, b),
                   {s.out * result, result, 1},
                   {s.c * plane, plane, 1},
                   s.in[2],
                   s.c * taps,
                   taps,
                   s.kernel[1],
                   s.kernel[2],
                   bias},
                  image.data(), weights.data(), out.data());
    scatter(1, s.c, s.in[0], plane, out.data(), grad_x + n * s.c * s.in[0] * plane);
  }
}

// One planar gradient for each tap of the depth.
void volume_weight_gradient(const ConvShape& s, const float* x, const float* grad,
                            float* grad_weight) {
  const Index plane = s.in[1] * s.in[2], result = s.result[1] * s.result[2], depth = s.kernel[0];
  const Index taps = s.kernel[1] * s.kernel[2], images = s.n * s.result[0];
  ConvShape planar = s;
  planar.n = images;
  planar.in[0] = planar.kernel[0] = planar.stride[0] = planar.result[0] = 1;
  planar.padding[0] = 0;
  Scratch<float> inputs(images * s.c * plane), gradients(images * s.out * result),
      sums(s.out * s.c * taps);
  gather(s.n, s.out, s.result[0], s.result[0], 0, 1, result, grad, gradients.data());
  for (Index t = 0; t < depth; ++t) {
    gather(s.n, s.c, s.in[0], s.result[0], t - s.padding[0], s.stride[0], plane, x, inputs.data());
    weight_gradient(planar, inputs.data(), gradients.data(), sums.data());
    for (Index i = 0; i < s.out * s.c; ++i)
      std::copy_n(sums.data() + i * taps, taps, grad_weight + (i * depth + t) * taps);
  }
}

}  // namespace rushlight::conv
