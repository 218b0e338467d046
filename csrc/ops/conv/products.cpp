// See conv_products.h. Operands are made contiguous here; an empty operand gives zeros, or the bias
// alone.
#include "products.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "ops/memory_format.h"

namespace rushlight::conv {
namespace {

enum class Product { forward, grad_input, grad_weight };

// Convolution's own cost: products at 40 a nanosecond.
double nanoseconds(const ConvShape& s) {
  double products = double(s.n) * double(s.out) * double(s.c) / double(s.groups);
  for (int d = 0; d < 3; ++d) products *= double(s.result[d]) * double(s.kernel[d]);
  return products / 40;
}

Tensor bias_gradient(const Tensor& g) {
  Shape dims{0};
  for (int d = 2; d < g.dim(); ++d) dims.push_back(d);
  return sum(g, dims, false);
}

// How many elements the kernel expects in (first, second, sizes...).
std::int64_t elements(std::int64_t first, std::int64_t second, const std::int64_t (&sizes)[3]) {
  std::int64_t n = checked_mul(first, second);
  for (const std::int64_t size : sizes) n = checked_mul(n, size);
  return n;
}

// As in torch, one such operand is enough for the result to be one, too. Of volumes, torch's
// doubles and integers are contiguous.
bool lies_inside(const Tensor& t) {
  const bool fits = t.dim() == 4 || (is_floating(t.dtype()) && t.dtype() != DType::float64);
  return fits && t.device().is_cpu() && is_channels_last(t);
}

// A 1x1 convolution of channels_last images, which stay so, takes each pixel for an image.
bool is_of_pixels(const ConvShape& s, const Tensor& image) {
  for (int d = 0; d < 3; ++d)
    if (s.kernel[d] != 1 || s.stride[d] != 1 || s.padding[d] != 0 || s.in[d] != s.result[d])
      return false;
  return s.groups == 1 && is_floating(image.dtype());
}
bool takes_inside(const ConvShape& s, const Tensor& image) {
  const auto takes = backend(image.device()).conv->takes_inside;
  return takes && takes(s, image.dtype());
}
ConvShape of_pixels(ConvShape s) {
  s.n = checked_mul(checked_mul(checked_mul(s.n, s.in[0]), s.in[1]), s.in[2]);
  for (int d = 0; d < 3; ++d) s.in[d] = s.result[d] = 1;
  return s;
}

void fill_with_bias(const Tensor& out, const Tensor& bias) {  // or with zeros
  if (!bias) return zero_(out);
  Shape shape{1, bias.numel()};
  while (shape.rank < out.dim()) shape.push_back(1);
  copy_bits(out, view(contiguous(bias), shape));
}

// A kernel of one element that reads every second pixel, or fewer, is one of stride 1 on those.
bool has_pixels_between(const ConvShape& s) {
  bool apart = false;
  for (int d = 0; d < 3; ++d) {
    if (s.kernel[d] != 1 || s.padding[d] != 0) return false;
    apart = apart || s.stride[d] != 1;
  }
  return apart;
}
Tensor every_pixel_read(const ConvShape& s, Tensor image) {  // a view
  for (int d = 2; d < image.dim(); ++d) {
    const int of = d + 3 - image.dim();  // behind the last one are more, of an output_padding
    image = slice(image, d, {}, (s.result[of] - 1) * s.stride[of] + 1, s.stride[of]);
  }
  return image;
}
ConvShape without_pixels_between(ConvShape s) {
  for (int d = 0; d < 3; ++d) s.in[d] = s.result[d], s.stride[d] = 1;
  return s;
}

Tensor compute(Product product, const ConvShape& geometry, const Tensor& a, const Tensor& b,
               const Tensor& bias, const Shape& sizes);

bool copies_pixels(Product product, const ConvShape& s, const Tensor& a, const Tensor& b) {
  if (!has_pixels_between(s) || a.device().is_meta() || !a.numel() || !b.numel()) return false;
  return backend(a.device()).conv->wants_pixels_copied &&
         !(product == Product::forward && (lies_inside(a) || lies_inside(b)) && takes_inside(s, a));
}
Tensor compute_on_copied_pixels(Product product, const ConvShape& geometry, const Tensor& a,
                                const Tensor& b, const Tensor& bias, const Shape& sizes) {
  const ConvShape s = without_pixels_between(geometry);
  if (product == Product::grad_input) {
    Shape read = sizes;
    for (int d = 2; d < a.dim(); ++d) read[d] = a.size(d);
    const Tensor part = compute(product, s, a, b, bias, read);
    const Tensor out = empty_image(sizes, a.dtype(), a.device(), lies_inside(part));
    fill_with_bias(out, bias);
    copy_bits(every_pixel_read(geometry, out), part);
    return out;
  }
  const Tensor view = every_pixel_read(geometry, a);
  const Tensor read = empty_image(view.shape(), a.dtype(), a.device(), lies_inside(a));
  copy_bits(read, view);
  return compute(product, s, read, b, bias, sizes);
}

Tensor compute(Product product, const ConvShape& geometry, const Tensor& a, const Tensor& b,
               const Tensor& bias, const Shape& sizes) {
  const GradMode off(false);
  if (copies_pixels(product, geometry, a, b))
    return compute_on_copied_pixels(product, geometry, a, b, bias, sizes);
  const bool of_weight = product == Product::grad_weight;
  const bool last = lies_inside(a) || (!of_weight && lies_inside(b));
  const bool pixels = last && is_of_pixels(geometry, a);
  ConvShape s = pixels ? of_pixels(geometry) : geometry;
  s.inside = last && !pixels && takes_inside(s, a);
  const bool inside = pixels || s.inside;
  Tensor out = empty_image(sizes, a.dtype(), a.device(), last && !of_weight);
  if (out.numel() == 0 || out.device().is_meta()) return out;
  if (a.numel() == 0 || b.numel() == 0) {
    fill_with_bias(out, bias);
    return out;
  }
  const Tensor left = inside ? channels_inside(a) : contiguous(a);
  const Tensor right = inside && of_weight ? channels_inside(b) : contiguous(b);
  Tensor to = out;
  if (last && !of_weight)  // a kernel that cannot write there gets rows of its own
    to = inside ? channels_inside(out) : empty(sizes, a.dtype(), a.device());
  const Tensor dense_bias = bias ? contiguous(bias) : Tensor();
  const std::int64_t input = elements(s.n, s.c, s.in), result = elements(s.n, s.out, s.result),
                     weight = elements(s.out, s.c / s.groups, s.kernel);
  const View l = dense_view(left, out.dtype(), product == Product::grad_input ? result : input),
             r = dense_view(right, out.dtype(), product == Product::grad_weight ? result : weight),
             o = view_of(to);
  const View bias_view =
      bias ? dense_view(dense_bias, out.dtype(), product == Product::forward ? s.out : s.c)
           : View{};
  const View* maybe_bias = bias ? &bias_view : nullptr;
  const ConvKernels& kernels = *backend(out.device()).conv;
  {
    const Unlocked unlocked(nanoseconds(s), {&left, &right, &out, &to, &dense_bias});
    switch (product) {
      case Product::forward: kernels.forward(s, l, r, maybe_bias, o); break;
      case Product::grad_input: kernels.grad_input(s, l, r, maybe_bias, o); break;
      case Product::grad_weight: kernels.grad_weight(s, l, r, o); break;
    }
  }
  if (last && !of_weight && !inside) copy_bits(out, to);
  return out;
}

constexpr const char* kShown =
    "input weight stride padding dilation groups transposed "
    "output_padding bias_sym_sizes_opt";

// How much longer than its windows need a transposed result is.
OfDimensions output_padding_of(const ConvShape& s, int count) {
  OfDimensions made{{}, count};
  for (int d = 0; d < 3; ++d)
    made.of[d] = s.in[d] - ((s.result[d] - 1) * s.stride[d] - 2 * s.padding[d] +
                            s.dilation[d] * (s.kernel[d] - 1) + 1);
  return made;
}
Shape sizes_of(const Tensor& bias) { return bias ? bias.shape() : Shape{0}; }  // as in torch

// Where each number takes part in so many products, computing an activation again costs little.
Saved kept_input(const Tensor& input, const Tensor& weight) {
  constexpr std::int64_t kProducts = 256;
  const bool is_heavy = wants_grad(weight) && weight.numel() >= kProducts * input->shape[1];
  return is_heavy ? Saved::recomputed(input) : Saved(input);
}

}  // namespace

Tensor forward(const ConvShape& s, const Tensor& input, const Tensor& weight, const Tensor& bias,
               const Shape& sizes) {
  return record(
      "ConvolutionBackward0", compute(Product::forward, s, input, weight, bias, sizes),
      showing(
          kShown,
          [s, shape = input.shape()](Tensor g, Node& self, const Saved& x, const Saved& w) {
            Tensor of_input, of_weight, of_bias;
            if (self.needs_input(1)) of_weight = grad_weight(s, x.once(), g, w.get().shape());
            if (self.needs_input(0)) of_input = grad_input(s, g, w.get(), {}, shape);
            if (self.needs_input(2)) of_bias = bias_gradient(g);
            return Gradients(of_input, of_weight, of_bias);
          },
          kept_input(input, weight), Saved(weight), of_dimensions(s.stride, sizes.rank - 2),
          of_dimensions(s.padding, sizes.rank - 2), of_dimensions(s.dilation, sizes.rank - 2),
          s.groups, false, OfDimensions{{}, sizes.rank - 2}, sizes_of(bias)),
      input, weight, bias);
}

Tensor grad_input(const ConvShape& s, const Tensor& grad, const Tensor& weight, const Tensor& bias,
                  const Shape& sizes) {
  return record(
      "ConvolutionBackward0", compute(Product::grad_input, s, grad, weight, bias, sizes),
      showing(
          kShown,
          [s](Tensor g, Node& self, const Saved& y, const Saved& w) {
            Tensor of_grad, of_weight, of_bias;
            if (self.needs_input(0)) of_grad = forward(s, g, w.get(), {}, y.get().shape());
            if (self.needs_input(1)) of_weight = grad_weight(s, g, y.get(), w.get().shape());
            if (self.needs_input(2)) of_bias = bias_gradient(g);
            return Gradients(of_grad, of_weight, of_bias);
          },
          Saved(grad), Saved(weight), of_dimensions(s.stride, sizes.rank - 2),
          of_dimensions(s.padding, sizes.rank - 2), of_dimensions(s.dilation, sizes.rank - 2),
          s.groups, true, output_padding_of(s, sizes.rank - 2), sizes_of(bias)),
      grad, weight, bias);
}

Tensor grad_weight(const ConvShape& s, const Tensor& input, const Tensor& grad,
                   const Shape& sizes) {
  return record(
      "ConvolutionBackwardBackward0", compute(Product::grad_weight, s, input, grad, {}, sizes),
      [s, x = Saved(input), y = Saved(grad)](Tensor g, Node& self) {
        return Gradients(
            self.needs_input(0) ? grad_input(s, y.get(), g, {}, x.get().shape()) : Tensor(),
            self.needs_input(1) ? forward(s, x.get(), g, {}, y.get().shape()) : Tensor());
      },
      input, grad);
}

}  // namespace rushlight::conv
