// Convolution over three dimensions as correlations of planes: the planes that an output plane
// reads, of all channels, are the input channels of one planar correlation.
#include <algorithm>

#include "kernels/parallel.h"
#include "plan.h"
#include "weight.h"

namespace rushlight::conv {
namespace {

// w as [of][tap of the depth][others][taps], from [of][others][tap of the depth][taps].
template <class T>
void depth_first(Index of, Index others, Index depth, Index taps, bool backwards, const T* w,
                 T* to) {
  parallel_for(of * depth * others, 4096, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index o = i / others / depth, t = i / others % depth, c = i % others;
      const Index tap = backwards ? depth - 1 - t : t;
      std::copy_n(w + ((o * others + c) * depth + tap) * taps, taps, to + i * taps);
    }
  });
}

struct Spread {  // elements from one plane, channel and pixel to the next, and from volume to
                 // volume
  Index plane, channel, pixel, volume;
  Spread(const ConvShape& s, Index channels, const Index (&size)[3])
      : plane(size[1] * size[2] * (s.inside ? channels : 1)),
        channel(s.inside ? 1 : size[0] * plane),
        pixel(s.inside ? channels : 1),
        volume(channels * size[0] * size[1] * size[2]) {}
  Steps planes() const { return {plane, channel, pixel}; }
};

}  // namespace

void volume_forward(const ConvShape& s, const float* x, const float* w, const float* bias,
                    float* y) {
  const Spread in(s, s.c, s.in), result(s, s.out, s.result);
  const Index depth = s.kernel[0], taps = s.kernel[1] * s.kernel[2];
  const Index c = s.c / s.groups, out = s.out / s.groups;  // of a group
  Scratch<float> weights(s.out * c * depth * taps);
  depth_first(s.out, c, depth, taps, false, w, weights.data());
  Correlation planar{s.result[0],
                     depth * c,
                     out,
                     forward_axis(s, 1),
                     forward_axis(s, 2),
                     in.planes(),
                     result.planes(),
                     s.result[2],
                     taps,
                     depth * c * taps,
                     s.kernel[1],
                     s.kernel[2],
                     nullptr,
                     {s.in[0], -s.padding[0], s.stride[0], c}};
  for (Index g = 0; g < s.groups; ++g) {
    if (bias) planar.bias = bias + g * out;
    for (Index n = 0; n < s.n; ++n)
      correlate(planar, x + n * in.volume + g * c * in.channel,
                weights.data() + g * out * depth * c * taps,
                y + n * result.volume + g * out * result.channel);
  }
}

void volume_input_gradient(const ConvShape& s, const float* grad, const float* w, const float* bias,
                           float* grad_x) {
  const Spread in(s, s.c, s.in), result(s, s.out, s.result);
  const Index depth = s.kernel[0], taps = s.kernel[1] * s.kernel[2];
  const Index c = s.c / s.groups, out = s.out / s.groups;  // of a group
  Scratch<float> weights(s.out * c * depth * taps);
  depth_first(s.groups, out * c, depth, taps, true, w, weights.data());
  for (Index g = 0; g < s.groups; ++g)
    for (Index n = 0; n < s.n; ++n)
      for (Index a = 0; a < std::min(s.stride[1], s.in[1]); ++a)
        for (Index b = 0; b < std::min(s.stride[2], s.in[2]); ++b)
          correlate({s.in[0],
                     depth * out,
                     c,
                     gradient_axis(s, 1, a),
                     gradient_axis(s, 2, b),
                     result.planes(),
                     in.planes(),
                     s.in[2],
                     c * taps,
                     taps,
                     s.kernel[1],
                     s.kernel[2],
                     bias ? bias + g * c : nullptr,
                     {s.result[0], s.padding[0] - (depth - 1), 1, out}},
                    grad + n * result.volume + g * out * result.channel,
                    weights.data() + g * depth * out * c * taps,
                    grad_x + n * in.volume + g * c * in.channel);
}

template <class T>
void planes_of_volume_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const Spread in(s, s.c, s.in), result(s, s.out, s.result);
  const Correlation plane{s.result[0],
                          s.kernel[0],
                          1,
                          forward_axis(s, 1),
                          forward_axis(s, 2),
                          in.planes(),
                          result.planes(),
                          s.result[2],
                          0,
                          0,
                          s.kernel[1],
                          s.kernel[2],
                          nullptr,
                          {s.in[0], -s.padding[0], s.stride[0], 1}};
  for (Index n = 0; n < s.n; ++n)
    correlate_planes(plane, s.c, x + n * in.volume, w, bias, y + n * result.volume);
}
template <class T>
void planes_of_volume_input_gradient(const ConvShape& s, const T* grad, const T* w, const T* bias,
                                     T* grad_x) {
  const Spread in(s, s.c, s.in), result(s, s.out, s.result);
  const Index depth = s.kernel[0], taps = s.kernel[1] * s.kernel[2];
  Scratch<T> weights(std::size_t(s.c * depth * taps));
  depth_first(s.c, 1, depth, taps, true, w, weights.data());
  for (Index a = 0; a < std::min(s.stride[1], s.in[1]); ++a)
    for (Index b = 0; b < std::min(s.stride[2], s.in[2]); ++b) {
      const Correlation plane{s.in[0],
                              depth,
                              1,
                              gradient_axis(s, 1, a),
                              gradient_axis(s, 2, b),
                              result.planes(),
                              in.planes(),
                              s.in[2],
                              0,
                              0,
                              s.kernel[1],
                              s.kernel[2],
                              nullptr,
                              {s.result[0], s.padding[0] - (depth - 1), 1, 1}};
      for (Index n = 0; n < s.n; ++n)
        correlate_planes(plane, s.c, grad + n * result.volume, weights.data(), bias,
                         grad_x + n * in.volume);
    }
}
template void planes_of_volume_forward(const ConvShape&, const float*, const float*, const float*,
                                       float*);
template void planes_of_volume_forward(const ConvShape&, const double*, const double*,
                                       const double*, double*);
template void planes_of_volume_input_gradient(const ConvShape&, const float*, const float*,
                                              const float*, float*);
template void planes_of_volume_input_gradient(const ConvShape&, const double*, const double*,
                                              const double*, double*);

// One planar gradient for each tap of the depth and each volume, of the planes that the tap reads.
void volume_weight_gradient(const ConvShape& s, const float* x, const float* grad,
                            float* grad_weight) {
  const Spread in(s, s.c, s.in), result(s, s.out, s.result);
  const Index depth = s.kernel[0], taps = s.kernel[1] * s.kernel[2], pairs = s.out * s.c;
  ConvShape planar = s;
  planar.in[0] = planar.kernel[0] = planar.stride[0] = planar.result[0] = 1;
  planar.padding[0] = 0;
  Scratch<float> sums(pairs * taps), all(pairs * taps);
  for (Index t = 0; t < depth; ++t) {
    const Index shift = t - s.padding[0], last = s.in[0] - 1 - shift;
    const Index first = shift < 0 ? (s.stride[0] - 1 - shift) / s.stride[0] : 0;
    const Index end = last < 0 ? 0 : std::min(s.result[0], last / s.stride[0] + 1);
    all.zero();
    planar.n = std::max<Index>(0, end - first);
    for (Index n = 0; n < s.n && planar.n > 0; ++n) {
      weight_gradient(planar, {s.stride[0] * in.plane, in.channel, in.pixel}, result.planes(),
                      x + n * in.volume + (first * s.stride[0] + shift) * in.plane,
                      grad + n * result.volume + first * result.plane, sums.data());
      add(pairs * taps, sums.data(), all.data());
    }
    for (Index i = 0; i < pairs; ++i)
      std::copy_n(all.data() + i * taps, taps, grad_weight + (i * depth + t) * taps);
  }
}

}  // namespace rushlight::conv
