// The table of convolution kernels: which way each shape and dtype goes. 16-bit floats are widened
// to float as a whole, so they go the float kernels' ways, but where the processor multiplies them.
#include "kernels/conv.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bfloat16.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/linalg/bfloat16_product.h"
#include "kernels/cpu/linalg/gemm.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight {
namespace {

using conv::Correlation;
using conv::General;
using conv::Index;

// Offsets inside one image are ints; planes too large for them go the general way.
bool fits_ints(const ConvShape& s) {
  const double plane = double(s.in[1] + 2 * s.padding[1] + 2 * kPanel) *
                       double(s.in[2] + 2 * s.padding[2] + 4 * kPanel);
  const double result = double(s.result[1]) * double(s.result[2] + 4 * kPanel);
  const double channels = double(std::max(s.c, s.out) / s.groups + kPanel);
  return (plane + result) * channels * double(s.kernel[0]) * 16 < 2e9;
}
bool is_planar(const ConvShape& s) {
  return s.in[0] == 1 && s.kernel[0] == 1 && s.result[0] == 1 && s.stride[0] == 1 &&
         s.padding[0] == 0 && fits_ints(s);
}
bool is_volume(const ConvShape& s) {
  return (s.groups == 1 || !s.inside) && s.dilation[0] == 1 && s.padding[0] <= s.in[0] + 8 &&
         fits_ints(s);
}

bool is_planes_of_volume(const ConvShape& s) {  // depthwise
  return s.groups == s.c && s.out == s.c && s.c > 1 && is_volume(s);
}

// A kernel that is one pixel wide in height and width sees a volume as an image: its planes are
// rows.
ConvShape folded(ConvShape s) {
  if (s.in[0] == 1 && s.kernel[0] == 1) return s;
  for (int d = 1; d < 3; ++d)
    if (s.kernel[d] != 1 || s.stride[d] != 1 || s.padding[d] != 0) return s;
  const auto fold = [](std::int64_t(&sizes)[3], std::int64_t rest) {
    sizes[2] = rest, sizes[1] = sizes[0], sizes[0] = 1;
  };
  fold(s.in, s.in[1] * s.in[2]), fold(s.result, s.result[1] * s.result[2]);
  for (auto* each : {&s.kernel, &s.stride, &s.dilation}) fold(*each, 1);
  fold(s.padding, 0), s.padding[0] = 0;
  return s;
}

// So few pixels that packing the weights would take as long as the product; by a column matrix they
// are read once.
bool has_few_pixels(const ConvShape& s) {
  const Index weights = s.out * s.c / s.groups * s.kernel[1] * s.kernel[2];
  const Index pixels = s.n * s.result[1] * s.result[2];
  return s.n <= 2 && pixels <= 64 && weights >= 4096 * pixels && !s.inside;
}

// The gradient of few input channels is quicker by a column matrix where a pixel has one tap, or
// where most taps of most pixels lie outside the result: correlate_columns multiplies all of a row.
bool has_few_taps(const ConvShape& s) {
  const bool apart = s.stride[1] >= s.kernel[1] && s.stride[2] >= s.kernel[2];
  const bool outside = 2 * s.result[2] * s.stride[2] <= s.in[2] + s.stride[2];
  return s.c / s.groups < kPanel && (apart || outside) && s.kernel[1] * s.kernel[2] > 1;
}

bool is_pointwise(const ConvShape& s) {
  for (int d = 1; d < 3; ++d)
    if (s.kernel[d] != 1 || s.result[d] != s.in[d] || s.padding[d] != 0) return false;
  return s.groups == 1;
}

// A 1x1 convolution is a product per image, which reads NCHW as it is:
// y[n] (out x plane) = w (out x c) * x[n] (c x plane).
template <class T>
void pointwise(Index n, Index c, Index out, Index plane, const T* x, Matrix<const T> w,
               const T* bias, T* y) {
  const Index strip = std::clamp<Index>(conv::kTaskProducts / std::max<Index>(c * out, 1), 64,
                                        std::max<Index>((plane + 15) / 16 * 16, 64));
  const Index strips = (plane + strip - 1) / strip;
  parallel_for(n * strips, 1 + 200'000 / (c * out * std::min(strip, plane)),
               [&](Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index first = i % strips * strip, size = std::min(strip, plane - first);
                   T* to = y + i / strips * out * plane + first;
                   for (Index o = 0; o < out && bias; ++o)
                     std::fill_n(to + o * plane, size, bias[o]);
                   gemm<T>(out, size, c, T(1), w, {x + i / strips * c * plane + first, plane},
                           T(bias ? 1 : 0), {to, plane});
                 }
               });
}

template <class T>
void pointwise_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  pointwise<T>(s.n, s.c, s.out, s.in[1] * s.in[2], x, {w, s.c}, bias, y);
}
template <class T>
void pointwise_grad_input(const ConvShape& s, const T* grad, const T* w, const T* bias, T* grad_x) {
  pointwise<T>(s.n, s.out, s.c, s.in[1] * s.in[2], grad, {w, s.c, true}, bias, grad_x);
}

bool is_depthwise(const ConvShape& s) {
  return s.groups == s.c && s.out == s.c && s.c > 1 && s.in[0] == 1 && s.result[0] == 1;
}
bool takes_inside(const ConvShape& given, DType dtype) {
  const ConvShape s = folded(given);
  if (!is_floating(dtype)) return false;
  const bool is_double = dtype == DType::float64;
  if (is_planar(s)) return is_depthwise(s) || (!is_pointwise(s) && (is_double || !has_few_taps(s)));
  return !is_double && s.groups == 1 && is_volume(s) && s.stride[0] == 1 && !has_few_taps(s);
}

// One pixel each, as images with their channels innermost give: then the whole is one product.
bool is_pixels(const ConvShape& s) {
  for (int d = 0; d < 3; ++d)
    if (s.kernel[d] != 1 || s.in[d] != 1 || s.result[d] != 1 || s.padding[d] != 0) return false;
  return s.groups == 1;
}
Index pixels_a_task(const ConvShape& s) {
  return std::max<Index>(conv::kTaskProducts / (s.c * s.out), 64);
}
// y (n x to) = x (n x from) * w + bias
template <class T>
void map_pixels(const ConvShape& s, Index from, Index to, const T* x, Matrix<const T> w,
                const T* bias, T* y) {
  const Index even = (s.n + num_threads() - 1) / num_threads();
  // The product adds to the bias while that is in the second cache.
  const Index near = bias ? std::max<Index>((1 << 17) / (from + to), 256) : s.n;
  const Index strip = std::min({pixels_a_task(s), near, std::max(even, 1 + 200'000 / (from * to))});
  parallel_for((s.n + strip - 1) / strip, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i * strip, size = std::min(strip, s.n - first);
      T* const out = y + first * to;
      for (Index p = 0; p < size && bias; ++p) std::copy_n(bias, to, out + p * to);
      gemm<T>(size, to, from, T(1), {x + first * from, from}, w, bias ? T(1) : T(0), {out, to});
    }
  });
}
template <class T>
void pixels_grad_weight(const ConvShape& s, const T* x, const T* grad, T* grad_w) {
  const Index strip = (s.out + num_threads() - 1) / num_threads(), depth = pixels_a_task(s);
  parallel_for((s.out + strip - 1) / strip, 1, [&](Index begin, Index end) {
    for (Index o = begin * strip; o < std::min(s.out, end * strip); o += strip)
      for (Index p = 0; p < s.n; p += depth) {
        gemm<T>(std::min(strip, s.out - o), s.c, std::min(depth, s.n - p), T(1),
                {grad + p * s.out + o, s.out, true}, {x + p * s.c, s.c}, p ? T(1) : T(0),
                {grad_w + o * s.c, s.c});
        check_interrupt();
      }
  });
}

template <class F>
void each_group(Index groups, F f) {  // parallel over groups, or inside one
  if (groups < num_threads())
    for (Index g = 0; g < groups; ++g) f(g);
  else
    parallel_for(groups, 1, [&](Index begin, Index end) {
      for (Index g = begin; g < end; ++g) f(g);
    });
}

// What a group of channels contributes; bias of all groups, or null.
Correlation forward_of(const ConvShape& s, Index group, const float* bias) {
  const Index c = s.c / s.groups, out = s.out / s.groups, kernel = s.kernel[1] * s.kernel[2];
  return {s.n,
          c,
          out,
          conv::forward_axis(s, 1),
          conv::forward_axis(s, 2),
          conv::input_steps(s),
          conv::result_steps(s),
          s.result[2],
          kernel,
          c * kernel,
          s.kernel[1],
          s.kernel[2],
          bias ? bias + group * out : nullptr};
}
// One correlation of grad per phase of the stride: no dilated copy, no scatter.
Correlation gradient_of(const ConvShape& s, Index group, Index a, Index b, const float* bias) {
  const Index c = s.c / s.groups, out = s.out / s.groups, kernel = s.kernel[1] * s.kernel[2];
  return {s.n,
          out,
          c,
          conv::gradient_axis(s, 1, a),
          conv::gradient_axis(s, 2, b),
          conv::result_steps(s),
          conv::input_steps(s),
          s.in[2],
          c * kernel,
          kernel,
          s.kernel[1],
          s.kernel[2],
          bias ? bias + group * c : nullptr};
}
template <class F>
void each_phase(const ConvShape& s, F f) {
  for (Index a = 0; a < std::min(s.stride[1], s.in[1]); ++a)
    for (Index b = 0; b < std::min(s.stride[2], s.in[2]); ++b) f(a, b);
}
Index group_weights(const ConvShape& s) {
  return s.out / s.groups * (s.c / s.groups) * s.kernel[1] * s.kernel[2];
}

// Channels apart, each a plane.
template <class T>
void depthwise_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  conv::correlate_planes(forward_of(s, 0, nullptr), s.c, x, w, bias, y);
}
template <class T>
void depthwise_grad_input(const ConvShape& s, const T* grad, const T* w, const T* bias, T* grad_x) {
  each_phase(s, [&](Index a, Index b) {
    conv::correlate_planes(gradient_of(s, 0, a, b, nullptr), s.c, grad, w, bias, grad_x);
  });
}
bool has_tap_rows(const ConvShape& s) {
  return s.groups == s.c && s.groups == s.out && s.kernel[2] <= 7;
}

void forward(const ConvShape& s, const float* x, const float* w, const float* bias, float* y) {
  if (!is_planar(s))
    return (is_planes_of_volume(s) ? conv::planes_of_volume_forward<float>
            : is_volume(s)         ? conv::volume_forward
                                   : General<float>::forward)(s, x, w, bias, y);
  if (is_pointwise(s)) return pointwise_forward(s, x, w, bias, y);
  if (has_few_pixels(s)) return General<float>::forward(s, x, w, bias, y);
  if (conv::is_patches(s)) return conv::patches_forward(s, x, w, bias, y);
  if (is_depthwise(s)) return depthwise_forward(s, x, w, bias, y);
  each_group(s.groups, [&](Index g) {
    const Correlation part = forward_of(s, g, bias);
    conv::correlate(part, x + g * part.c * part.from.channel, w + g * group_weights(s),
                    y + g * part.out * part.to.channel);
  });
}

void grad_input(const ConvShape& s, const float* grad, const float* w, const float* bias,
                float* grad_x) {
  if (!is_planar(s))
    return (s.stride[0] == 1 && is_planes_of_volume(s)
                ? conv::planes_of_volume_input_gradient<float>
            : is_volume(s) && s.stride[0] == 1 && !has_few_taps(s)
                ? conv::volume_input_gradient
                : General<float>::grad_input)(s, grad, w, bias, grad_x);
  if (is_pointwise(s)) return pointwise_grad_input(s, grad, w, bias, grad_x);
  if (is_depthwise(s)) return depthwise_grad_input(s, grad, w, bias, grad_x);
  if (has_few_taps(s)) return General<float>::grad_input(s, grad, w, bias, grad_x);
  each_group(s.groups, [&](Index g) {
    each_phase(s, [&](Index a, Index b) {
      const Correlation part = gradient_of(s, g, a, b, bias);
      conv::correlate(part, grad + g * part.c * part.from.channel, w + g * group_weights(s),
                      grad_x + g * part.out * part.to.channel);
    });
  });
}

void grad_weight(const ConvShape& s, const float* x, const float* grad, float* grad_w) {
  if (!is_planar(s))
    return (s.groups == 1 && is_volume(s) ? conv::volume_weight_gradient
                                          : General<float>::grad_weight)(s, x, grad, grad_w);
  if (has_tap_rows(s)) return conv::depthwise_weight_gradient(s, x, grad, grad_w);
  conv::weight_gradient(s, x, grad, grad_w);
}

void forward(const ConvShape& s, const double* x, const double* w, const double* bias, double* y) {
  if (is_planar(s) && is_pointwise(s)) return pointwise_forward(s, x, w, bias, y);
  if (is_planar(s) && is_depthwise(s)) return depthwise_forward(s, x, w, bias, y);
  (s.inside                 ? conv::inside_forward
   : is_planes_of_volume(s) ? conv::planes_of_volume_forward<double>
                            : General<double>::forward)(s, x, w, bias, y);
}
void grad_input(const ConvShape& s, const double* grad, const double* w, const double* bias,
                double* grad_x) {
  if (is_planar(s) && is_pointwise(s)) return pointwise_grad_input(s, grad, w, bias, grad_x);
  if (is_planar(s) && is_depthwise(s)) return depthwise_grad_input(s, grad, w, bias, grad_x);
  (s.inside ? conv::inside_grad_input
   : s.stride[0] == 1 && is_planes_of_volume(s)
       ? conv::planes_of_volume_input_gradient<double>
       : General<double>::grad_input)(s, grad, w, bias, grad_x);
}
void grad_weight(const ConvShape& s, const double* x, const double* grad, double* grad_w) {
  if (is_planar(s) && has_tap_rows(s)) return conv::depthwise_weight_gradient(s, x, grad, grad_w);
  (s.inside ? conv::inside_grad_weight : General<double>::grad_weight)(s, x, grad, grad_w);
}

// A tensor's elements in the type that is computed with: in place, or widened.
template <class S>
class Wide {
 public:
  using T = Compute<S>;
  explicit Wide(const View& v) : data_(v.as<T>()) {
    if constexpr (!std::is_same_v<S, T>) {
      const S* from = v.as<S>();
      data_ = copy_.emplace(v.numel).data();
      parallel_for(v.numel, 65536, [&](Index begin, Index end) {
        convert_row(data_ + begin, from + begin, end - begin);
      });
    }
  }
  const T* data() const { return data_; }

 private:
  T* data_;
  std::optional<Scratch<T>> copy_;
};

template <class S, class F>
void write_through(const View& out, F f) {  // f(T*) computes, then the result is narrowed
  using T = Compute<S>;
  if constexpr (std::is_same_v<S, T>) {
    f(out.as<T>());
  } else {
    Scratch<T> wide(out.numel);
    f(wide.data());
    parallel_for(out.numel, 65536, [&](Index begin, Index end) {
      convert_row(out.as<S>() + begin, wide.data() + begin, end - begin);
    });
  }
}

// Rows without margins are one row.
Correlation unrolled(Correlation c) {
  const auto is_plain = [](const conv::Axis& x) {
    return x.in == x.out && x.step == 1 && x.pitch == 1 && x.shift == std::vector<Index>{0};
  };
  if (is_plain(c.rows) && is_plain(c.cols)) {
    c.to_width = c.cols.in = c.cols.out = c.rows.out * c.cols.out;
    c.rows.in = c.rows.out = 1;
  }
  return c;
}
// Whether it was computed without being widened: all phases and groups, or none.
bool correlates_bfloat16(const ConvShape& s, bool gradient, const bfloat16* x, const bfloat16* w,
                         const bfloat16* bias, bfloat16* y) {
  std::vector<Correlation> parts;
  if (gradient)
    each_phase(s, [&](Index a, Index b) { parts.push_back(gradient_of(s, 0, a, b, nullptr)); });
  else
    parts.push_back(forward_of(s, 0, nullptr));
  for (Correlation& part : parts)
    if (part = unrolled(part); !conv::suits_bfloat16(part)) return false;
  std::vector<float> shift;
  for (Index i = 0; bias && i < (gradient ? s.c : s.out); ++i) shift.push_back(load(bias + i));
  each_group(s.groups, [&](Index g) {
    for (Correlation part : parts) {
      part.bias = bias ? shift.data() + g * part.out : nullptr;
      const auto correlate = conv::suits_bfloat16_pixels(part) ? conv::correlate_bfloat16_pixels
                                                               : conv::correlate_bfloat16;
      correlate(part, x + g * part.c * part.from.channel, w + g * group_weights(s),
                y + g * part.out * part.to.channel);
    }
  });
  return true;
}
bool goes_as_bfloat16(const ConvShape& s, bool gradient, const View& in, const View& weight,
                      const View* bias, const View& out) {
  if (out.dtype != DType::bfloat16 || !multiplies_bfloat16()) return false;
  const auto *x = in.as<const bfloat16>(), *w = weight.as<const bfloat16>();
  const auto* const b = bias ? bias->as<const bfloat16>() : nullptr;
  auto* const y = out.as<bfloat16>();
  if (!is_pixels(s))
    return (is_planar(s) && correlates_bfloat16(s, gradient, x, w, b, y)) ||
           (!gradient && conv::windows_bfloat16(s, x, w, b, y));
  const Index from = gradient ? s.out : s.c, to = gradient ? s.c : s.out;
  return bfloat16_product({x, s.n, from, from, 1},
                          {w, from, to, gradient ? s.c : 1, gradient ? 1 : s.c},
                          {{y, s.n, to, to, 1}, 1.f, b ? 1.f : 0.f, {b, s.n, to, 0, 1}});
}

void forward_kernel(const ConvShape& given, const View& input, const View& weight, const View* bias,
                    const View& out) {
  const ConvShape s = folded(given);
  if (!is_floating(out.dtype))
    return dispatch_integral(out.dtype, [&]<class S>(Type<S>) {
      General<S>::forward(s, input.as<S>(), weight.as<S>(), bias ? bias->as<S>() : nullptr,
                          out.as<S>());
    });
  if (goes_as_bfloat16(s, false, input, weight, bias, out)) return;
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    if (s.inside && is_depthwise(s))
      return conv::depthwise_forward(s, input.as<const S>(), weight.as<const S>(),
                                     bias ? bias->as<const S>() : nullptr, out.as<S>());
    const Wide<S> x(input), w(weight), b(bias ? *bias : View{});
    write_through<S>(out, [&](auto* y) {
      const auto* shift = bias ? b.data() : nullptr;
      if (is_pixels(s))
        map_pixels<Compute<S>>(s, s.c, s.out, x.data(), {w.data(), s.c, true}, shift, y);
      else
        forward(s, x.data(), w.data(), shift, y);
    });
  });
}

void grad_input_kernel(const ConvShape& given, const View& grad, const View& weight,
                       const View* bias, const View& out) {
  const ConvShape s = folded(given);
  if (!is_floating(out.dtype))
    return dispatch_integral(out.dtype, [&]<class S>(Type<S>) {
      General<S>::grad_input(s, grad.as<S>(), weight.as<S>(), bias ? bias->as<S>() : nullptr,
                             out.as<S>());
    });
  if (goes_as_bfloat16(s, true, grad, weight, bias, out)) return;
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    if (s.inside && is_depthwise(s))
      return conv::depthwise_grad_input(s, grad.as<const S>(), weight.as<const S>(),
                                        bias ? bias->as<const S>() : nullptr, out.as<S>());
    const Wide<S> g(grad), w(weight), b(bias ? *bias : View{});
    write_through<S>(out, [&](auto* x) {
      const auto* shift = bias ? b.data() : nullptr;
      if (is_pixels(s))
        map_pixels<Compute<S>>(s, s.out, s.c, g.data(), {w.data(), s.c}, shift, x);
      else
        grad_input(s, g.data(), w.data(), shift, x);
    });
  });
}

void grad_weight_kernel(const ConvShape& given, const View& input, const View& grad,
                        const View& out) {
  const ConvShape s = folded(given);
  if (out.dtype == DType::bfloat16 && is_pixels(s) &&
      bfloat16_product({grad.as<const bfloat16>(), s.out, s.n, 1, s.out},
                       {input.as<const bfloat16>(), s.n, s.c, s.c, 1},
                       output_of<float, bfloat16>({out.as<bfloat16>(), s.out, s.c, s.c, 1})))
    return;
  if (out.dtype == DType::bfloat16 && multiplies_bfloat16() && is_planar(s) && !is_pixels(s) &&
      std::min(s.c, s.out) / s.groups >= 4)
    return write_through<bfloat16>(out, [&](float* w) {
      conv::weight_gradient(s, input.as<const std::uint16_t>(), grad.as<const std::uint16_t>(), w);
    });
  dispatch_floating(out.dtype, [&]<class S>(Type<S>) {
    if (s.inside && is_depthwise(s))
      return write_through<S>(out, [&](auto* w) {
        conv::depthwise_grad_weight(s, input.as<const S>(), grad.as<const S>(), w);
      });
    const Wide<S> x(input), g(grad);
    write_through<S>(out, [&](auto* w) {
      if (is_pixels(s))
        pixels_grad_weight<Compute<S>>(s, x.data(), g.data(), w);
      else
        grad_weight(s, x.data(), g.data(), w);
    });
  });
}

}  // namespace

const ConvKernels cpu_conv = {forward_kernel, grad_input_kernel, grad_weight_kernel, takes_inside,
                              true};

}  // namespace rushlight
