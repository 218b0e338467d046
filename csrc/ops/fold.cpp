// unfold() and fold() of torch.nn.functional: each is the gradient of the other.
#include "ops/fold.h"

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/fold.h"
#include "ops/memory_format.h"

namespace rushlight {
namespace {

// "(2, 3)", as torch spells pairs here.
std::string pair(const std::int64_t* v) { return text("(", v[0], ", ", v[1], ")"); }

void read_pair(const char* what, const Shape& given, bool one_is_enough, std::int64_t* to) {
  if (given.rank != 2 && !(given.rank == 1 && one_is_enough))
    fail<RuntimeError>("It is expected ", what, " equals to 2, but got size ", int(given.rank));
  for (int d = 0; d < 2; ++d) to[d] = given[given.rank == 1 ? 0 : d];
}

void check_above(const char* what, const char* names, const std::int64_t* v, std::int64_t least) {
  if (v[0] >= least && v[1] >= least) return;
  fail<RuntimeError>(
      what, least ? " should be greater than zero, but got " : " should be non-negative, but got ",
      names, "_height: ", v[0], " ", names, "_width: ", v[1]);
}

std::string words(const FoldShape& s) {
  return text("kernel_size=", pair(s.kernel), ", dilation=", pair(s.dilation),
              ", padding=", pair(s.padding), ", stride=", pair(s.stride));
}

// All but the image's size and the number of planes.
FoldShape read_options(const FoldOptions& o) {
  FoldShape s{};
  read_pair("kernel_size", o.kernel, true, s.kernel);
  read_pair("dilation", o.dilation, true, s.dilation);
  read_pair("padding", o.padding, true, s.padding);
  read_pair("stride", o.stride, true, s.stride);
  check_above("kernel size", "kernel", s.kernel, 1);
  check_above("dilation", "dilation", s.dilation, 1);
  check_above("padding", "pad", s.padding, 0);
  check_above("stride", "stride", s.stride, 1);
  return s;
}

void count_windows(FoldShape& s) {
  for (int d = 0; d < 2; ++d) {
    const std::int64_t reach = checked_add(checked_mul(s.dilation[d], s.kernel[d] - 1), 1);
    const std::int64_t room = checked_add(s.image[d], checked_mul(2, s.padding[d])) - reach;
    s.windows[d] = room >= 0 ? room / s.stride[d] + 1 : -((-room - 1) / s.stride[d]);
  }
}

double nanoseconds(const FoldShape& s) { return double(s.planes) * double(s.column()) * 0.3; }

void check_dtype(const Tensor& input, const char* kernel) {
  if (!is_floating(input.dtype()) && input.dtype() != DType::boolean)
    fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
}

Tensor fold_planes(const FoldShape& s, const Tensor& input, const Shape& sizes);

// `input` as (planes, image...), its columns with `sizes`.
Tensor unfold_planes(const FoldShape& s, const Tensor& input, const Shape& sizes) {
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input);
    const View v = dense_view(x, out.dtype(), s.planes * s.plane()),
               o = dense_view(out, out.dtype(), s.planes * s.column());
    const FoldKernels& kernels = *backend(out.device()).fold;
    const Unlocked unlocked(nanoseconds(s), {&x, &out});
    kernels.unfold(s, v, o);
  }
  return record(
      "Im2ColBackward0", std::move(out),
      [s, from](Tensor g) { return Gradients(fold_planes(s, g, from)); }, input);
}

Tensor fold_planes(const FoldShape& s, const Tensor& input, const Shape& sizes) {
  const Shape from = input.shape();  // before another thread can change it
  Tensor out = empty(sizes, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = contiguous(input);
    const View v = dense_view(x, out.dtype(), s.planes * s.column()),
               o = dense_view(out, out.dtype(), s.planes * s.plane());
    const FoldKernels& kernels = *backend(out.device()).fold;
    const Unlocked unlocked(nanoseconds(s), {&x, &out});
    kernels.fold(s, v, o);
  }
  return record(
      "Col2ImBackward0", std::move(out),
      [s, from](Tensor g) { return Gradients(unfold_planes(s, g, from)); }, input);
}

// Sizes but for a batch of none must not be 0.
bool has_rank(const Tensor& t, int rank) {
  if (t.dim() != rank && t.dim() != rank + 1) return false;
  for (int d = t.dim() - rank; d < t.dim(); ++d)
    if (t->shape[d] == 0) return false;
  return true;
}

}  // namespace

Tensor im2col(const Tensor& input, const FoldOptions& options) {
  FoldShape s = read_options(options);
  if (!has_rank(input, 3))
    fail<RuntimeError>(
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
        "dimensions for input, but got: ",
        input.sizes());
  check_dtype(input, "im2col");
  const int dim = input.dim();
  for (int d = 0; d < 2; ++d) s.image[d] = input->shape[dim - 2 + d];
  count_windows(s);
  if (s.windows[0] < 1 || s.windows[1] < 1)
    fail<RuntimeError>("Given input with spatial size ", pair(s.image), ", ", words(s),
                       ", calculated shape of the array of sliding blocks as ", pair(s.windows),
                       ", but its components must be at least one.");
  const std::int64_t channels = input->shape[dim - 3], n = dim == 4 ? input->shape[0] : 1;
  s.planes = checked_mul(n, channels);
  const std::int64_t taps = checked_mul(s.kernel[0], s.kernel[1]);
  Shape sizes;
  if (dim == 4) sizes.push_back(n);
  sizes.push_back(checked_mul(channels, taps));
  sizes.push_back(checked_mul(s.windows[0], s.windows[1]));
  return unfold_planes(s, input, sizes);
}

Tensor col2im(const Tensor& input, const Shape& output_size, const FoldOptions& options) {
  FoldShape s = read_options(options);
  read_pair("output_size", output_size, true, s.image);
  if (!has_rank(input, 2))
    fail<RuntimeError>(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
        "dimensions for input, but got: ",
        input.sizes());
  check_dtype(input, "col2im");
  const int dim = input.dim();
  const std::int64_t rows = input->shape[dim - 2], count = input->shape[dim - 1],
                     taps = checked_mul(s.kernel[0], s.kernel[1]);
  if (rows % taps != 0)
    fail<RuntimeError>("Expected size of input's dimension 1 to be divisible by the product of ",
                       "kernel_size, but got input.size(1)=", rows,
                       " and kernel_size=", pair(s.kernel), ".");
  count_windows(s);
  const std::int64_t blocks = checked_mul(s.windows[0], s.windows[1]);
  if (s.windows[0] < 1 || s.windows[1] < 1)
    fail<RuntimeError>("Given output_size=", pair(s.image), ", ", words(s),
                       ", calculated shape of the array of sliding blocks as ", pair(s.windows),
                       ", which is too small (non-positive)");
  if (count != blocks)
    fail<RuntimeError>("Given output_size=", pair(s.image), ", ", words(s),
                       ", expected size of input's dimension 2 to match the calculated number of ",
                       "sliding blocks ", s.windows[0], " * ", s.windows[1], " = ", blocks,
                       ", but got input.size(2)=", count, ".");
  const std::int64_t n = dim == 3 ? input->shape[0] : 1;
  s.planes = checked_mul(n, rows / taps);
  Shape sizes;
  if (dim == 3) sizes.push_back(n);
  for (const std::int64_t size : {rows / taps, s.image[0], s.image[1]}) sizes.push_back(size);
  return fold_planes(s, input, sizes);
}

namespace {

void check_image(const char* name, const Tensor& input, const char* what, std::int64_t factor) {
  if (input.dim() < 3)
    fail<RuntimeError>(name, " expects input to have at least 3 dimensions, but got input with ",
                       input.dim(), " dimension(s)");
  if (factor <= 0) fail<RuntimeError>(name, " expects a positive ", what, ", but got ", factor);
}

// `out` as a result of its own, not a view, whatever it was made of.
Tensor owned(const Tensor& input, Tensor out) {
  if (out->storage.get() == input->storage.get()) out = clone(out);
  return alias(in_format_of(input, std::move(out)));
}

// input seen as (n, split...), its last dimensions in `order`, copied to (batch..., last...).
Tensor rearrange(const char* node, const Tensor& input, const Shape& split, const Shape& order,
                 std::initializer_list<std::int64_t> last) {
  const Shape from = input.shape();  // before another thread can change it
  Shape sizes;
  for (int d = 0; d < input.dim() - int(last.size()); ++d) sizes.push_back(input->shape[d]);
  for (const std::int64_t n : last) sizes.push_back(n);
  Tensor out;
  {
    const GradMode off(false);
    out = owned(input, reshape(contiguous(permute(reshape(input, split), order)), sizes));
  }
  return record(
      node, std::move(out),
      [node, split, order, from](Tensor g) {
        Shape mixed, back;
        for (int d = 0; d < order.rank; ++d) {
          mixed.push_back(split[int(order[d])]);
          back.push_back(0);
        }
        for (int d = 0; d < order.rank; ++d) back[int(order[d])] = d;
        return Gradients(reshape(permute(reshape(g, mixed), back), from));
      },
      input);
}

std::int64_t batch_of(const Tensor& t, int last) {
  std::int64_t n = 1;
  for (int d = 0; d < t.dim() - last; ++d) n = checked_mul(n, t->shape[d]);
  return n;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& input, std::int64_t r) {
  check_image("pixel_shuffle", input, "upscale_factor", r);
  const std::int64_t c = input.size(-3), h = input.size(-2), w = input.size(-1),
                     area = checked_mul(r, r);
  if (c % area != 0)
    fail<RuntimeError>("pixel_shuffle expects its input's 'channel' dimension to be divisible by ",
                       "the square of upscale_factor, but input.size(-3)=", c,
                       " is not divisible by ", area);
  return rearrange("PixelShuffleBackward0", input, {batch_of(input, 3), c / area, r, r, h, w},
                   {0, 1, 4, 2, 5, 3}, {c / area, checked_mul(h, r), checked_mul(w, r)});
}

Tensor pixel_unshuffle(const Tensor& input, std::int64_t r) {
  check_image("pixel_unshuffle", input, "downscale_factor", r);
  const std::int64_t c = input.size(-3), h = input.size(-2), w = input.size(-1);
  if (h % r != 0)
    fail<RuntimeError>("pixel_unshuffle expects height to be divisible by downscale_factor, but ",
                       "input.size(-2)=", h, " is not divisible by ", r);
  if (w % r != 0)
    fail<RuntimeError>("pixel_unshuffle expects width to be divisible by downscale_factor, but ",
                       "input.size(-1)=", w, " is not divisible by ", r);
  return rearrange("PixelUnshuffleBackward0", input, {batch_of(input, 3), c, h / r, r, w / r, r},
                   {0, 1, 3, 5, 2, 4}, {checked_mul(c, checked_mul(r, r)), h / r, w / r});
}

Tensor channel_shuffle(const Tensor& input, std::int64_t groups) {
  if (input.dim() < 3)
    fail<RuntimeError>("channel_shuffle expects input with > 2 dims, but got input with sizes ",
                       input.sizes());
  const std::int64_t c = input->shape[1];
  if (groups <= 0)
    fail<RuntimeError>("Number of groups to divide channels in must be positive. Value of groups:",
                       groups);
  if (c % groups != 0)
    fail<RuntimeError>("Number of channels must be divisible by groups. Got ", c, " channels and ",
                       groups, " groups.");
  std::int64_t rest = 1;
  for (int d = 2; d < input.dim(); ++d) rest = checked_mul(rest, input->shape[d]);
  Tensor out;
  {
    const GradMode off(false);
    const Tensor split = reshape(input, {input->shape[0], groups, c / groups, rest});
    out = owned(input, reshape(contiguous(transpose(split, 1, 2)), input.shape()));
  }
  return record(
      "ChannelShuffleBackward0", std::move(out),
      [groups](Tensor g) { return Gradients(channel_shuffle(g, g->shape[1] / groups)); }, input);
}

}  // namespace rushlight
