// See resample.h. The gradient is an op of its own, whose gradient is the forward again.
#include "ops/resample.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/resample.h"
#include "ops/memory_format.h"

namespace rushlight {
namespace {

double nanoseconds(const ResampleShape& s) {
  return double(s.planes) * (double(s.inputs()) + double(s.outputs())) * 0.5;
}

// torch's names of nodes: UpsampleBilinear2DBackward0.
const char* node_of(Resampling mode, int rank) {
  static constexpr const char* kNames[][3] = {
      {"UpsampleNearest1DBackward0", "UpsampleNearest2DBackward0", "UpsampleNearest3DBackward0"},
      {"UpsampleNearestExact1DBackward0", "UpsampleNearestExact2DBackward0",
       "UpsampleNearestExact3DBackward0"},
      {"UpsampleLinear1DBackward0", "UpsampleBilinear2DBackward0", "UpsampleTrilinear3DBackward0"},
      {"", "UpsampleBicubic2DBackward0", ""},
      {"", "UpsampleBilinear2DAaBackward0", ""},
      {"", "UpsampleBicubic2DAaBackward0", ""},
      {"", "UpsampleLanczos2DAaBackward0", ""}};
  return kNames[int(mode)][rank - 1];
}

Resampling mode_of(std::string_view mode, bool antialias) {
  if (mode == "nearest") return Resampling::nearest;
  if (mode == "nearest-exact") return Resampling::nearest_exact;
  if (mode == "lanczos") return Resampling::lanczos;
  if (mode == "bicubic") return antialias ? Resampling::keys : Resampling::cubic;
  return antialias ? Resampling::triangle : Resampling::linear;
}

// What nodes show: first of nearest neighbours, then of what can align corners.
constexpr const char* kNames[2][3] = {
    {"self_sym_sizes output_size scales", "self_sym_sizes output_size scales_w scales_h",
     "self_sym_sizes output_size scales_w scales_h scales_d"},
    {"self_sym_sizes output_size align_corners scales",
     "self_sym_sizes output_size align_corners scales_w scales_h",
     "self_sym_sizes output_size align_corners scales_w scales_h scales_d"}};

struct Resampled {
  ResampleShape shape;
  const char* node;
};

Tensor resample_backward(const Resampled& r, const Tensor& g, const Shape& sizes);

// The same of images that lie as rows of channels: the channels are a third dimension that stays.
ResampleShape with_channels_inside(const ResampleShape& s, std::int64_t channels) {
  ResampleShape c = s;
  c.planes = s.planes / channels;
  for (int axis = 0; axis < 2; ++axis)
    c.in[axis] = s.in[axis + 1], c.out[axis] = s.out[axis + 1], c.factor[axis] = s.factor[axis + 1];
  c.in[2] = c.out[2] = channels, c.factor[2] = 0;
  return c;
}

// One image with its channels innermost, which is not channels_last by torch's rule, as the stride
// from image to image is short: what a file's pixels are after permute() and unsqueeze().
bool is_of_pixels(const Tensor& x, const Shape& sizes) {
  const std::int64_t c = x.dim() == 4 ? x.size(1) : 0;
  return c > 1 && sizes[2] * sizes[3] > 1 && x.size(0) == 1 && x.device().is_cpu() &&
         x.stride(1) == 1 && x.stride(3) == c && x.stride(2) == c * x.size(3);
}

Tensor forward(const Resampled& r, const Tensor& input, const Shape& sizes, bool formatted) {
  const ResampleShape& s = r.shape;
  const Shape from = input.shape();  // before another thread can change it
  const MemoryFormat format = format_of(input);
  // Bytes of a volume are rounded between height and width, which its last two axes are.
  const bool rounds =
      input.dtype() == DType::uint8 && s.mode > Resampling::nearest_exact && s.rank == 3;
  const bool inside =
      formatted && !rounds && (has_channels_inside(input) || is_of_pixels(input, sizes));
  Tensor out = empty_image(sizes, input.dtype(), input.device(), inside);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor x = inside ? channels_inside(input) : contiguous(input);
    const Tensor y = inside ? channels_inside(out) : out;
    const View v = dense_view(x, out.dtype(), s.planes * s.inputs()),
               o = dense_view(y, out.dtype(), s.planes * s.outputs());
    const ResampleKernels& kernels = *backend(out.device()).resample;
    const Unlocked unlocked(nanoseconds(s), {&x, &out});
    kernels.forward(inside ? with_channels_inside(s, sizes[1]) : s, v, o);
  }
  if (formatted && inside != (format != MemoryFormat::contiguous)) out = in_format(out, format);
  const bool aligns = s.mode != Resampling::nearest && s.mode != Resampling::nearest_exact;
  std::optional<Scalar> shown[4];
  int count = 0;
  if (aligns) shown[count++] = Scalar(s.align_corners);
  for (int axis = 2; axis >= 0; --axis, ++count)
    if (s.factor[axis]) shown[count] = Scalar(s.factor[axis]);
  return record(r.node, std::move(out),
                showing(
                    kNames[aligns][s.rank - 1],
                    [r](Tensor g, Node&, const Shape& from) {
                      return Gradients(resample_backward(r, g, from));
                    },
                    from, of_dimensions(s.out, s.rank), shown[0], shown[1], shown[2], shown[3]),
                input);
}

Tensor resample_backward(const Resampled& r, const Tensor& g, const Shape& sizes) {
  const ResampleShape& s = r.shape;
  const bool inside = s.mode != Resampling::cubic && has_channels_inside(g);  // as torch has it
  const Shape from = g.shape();
  Tensor out = empty_image(sizes, g.dtype(), g.device(), inside);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = inside ? channels_inside(g) : contiguous(g);
    const Tensor y = inside ? channels_inside(out) : out;
    const View v = dense_view(grad, out.dtype(), s.planes * s.outputs()),
               o = dense_view(y, out.dtype(), s.planes * s.inputs());
    const ResampleKernels& kernels = *backend(out.device()).resample;
    const Unlocked unlocked(nanoseconds(s), {&grad, &out});
    kernels.backward(inside ? with_channels_inside(s, sizes[1]) : s, v, o);
  }
  return record(
      r.node, std::move(out),
      [r, from](Tensor gg) { return Gradients(forward(r, gg, from, r.shape.rank == 2)); }, g);
}

}  // namespace

Tensor resample(const Tensor& input, const Shape& size, const std::vector<double>& factors,
                std::string_view mode, bool align_corners, bool antialias) {
  const int dim = input.dim(), rank = dim - 2;
  if (rank < 1 || rank > 3 || size.rank != rank ||
      (!factors.empty() && factors.size() != std::size_t(rank)))
    fail<RuntimeError>("interpolate(): expected 1 to 3 spatial dimensions and as many sizes, got ",
                       describe("input", input), " and size ", size);
  ResampleShape s{};
  s.rank = rank;
  s.planes = checked_mul(input->shape[0], input->shape[1]);
  s.mode = mode_of(mode, antialias);
  s.align_corners = align_corners;
  Shape sizes = input.shape();
  bool positive = true, small = true;
  for (int axis = 0; axis < 3; ++axis) {
    const int d = axis - (3 - rank);
    s.in[axis] = d < 0 ? 1 : input->shape[2 + d];
    s.out[axis] = d < 0 ? 1 : size[d];
    s.factor[axis] = d < 0 || factors.empty() ? 0 : factors[std::size_t(d)];
    positive &= s.in[axis] > 0 && s.out[axis] > 0;
    small &= s.in[axis] <= 0x7fffffff && s.out[axis] <= 0x7fffffff;
    if (d >= 0) sizes[2 + d] = size[d];
  }
  if (!positive)
    fail<RuntimeError>("Input and output sizes should be greater than 0, but got input ",
                       input.sizes().subspan(2), " output ", size);
  if (input->shape[1] == 0)
    fail<RuntimeError>("Non-empty ", dim, "D data tensor expected but got a tensor with sizes ",
                       input.sizes());
  if (!is_floating(input.dtype()) && input.dtype() != DType::uint8)
    fail<NotImplementedError>("\"upsample_", mode, rank, "d\" not implemented for '",
                              scalar_name(input.dtype()), "': it takes floating dtypes and uint8");
  numel_of(sizes);  // in torch's words where it overflows
  if (!small)
    fail<RuntimeError>("interpolate(): a dimension has more than 2147483647 elements, input ",
                       input.sizes(), ", output ", sizes);
  return forward({s, node_of(s.mode, rank)}, input, sizes, rank > 1);
}

}  // namespace rushlight
