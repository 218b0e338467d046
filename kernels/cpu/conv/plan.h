// What the convolution kernels of planes share. Forward, and each phase of the stride of an input
// gradient, are one Correlation; note that taps falling into the zero padding are
// skipped, not multiplied, and that padding is never stored.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/conv.h"
#include "kernels/cpu/linalg/register_tile.h"
#include "kernels/cpu/scratch.h"

namespace rushlight::conv {

using Index = std::int64_t;

// A vector of float or double, wherever it lies.
template <class T, int bytes = 32>
struct Lanes {
  using type __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias)) = T;
};
template <class T>
inline constexpr Index kLanes = 32 / Index(sizeof(T));

// One axis: output q reads input q * step + shift[t] with kernel tap tap[t] and is stored at
// first + q * pitch.
struct Axis {
  Index in, out, step, first, pitch;
  std::vector<Index> tap, shift;  // shift increases

  std::pair<Index, Index> inside(Index q) const;           // the taps that hit the image
  std::pair<Index, Index> reads(Index q0, Index q1) const;  // inputs that outputs [q0, q1) read
};
Axis forward_axis(const ConvShape& s, int dim);
// Input positions congruent to `phase` modulo the stride.
Axis gradient_axis(const ConvShape& s, int dim, Index phase);

// Elements from one image, channel and pixel to the next.
struct Steps {
  Index image, channel, pixel;
};
Steps input_steps(const ConvShape& s);
Steps result_steps(const ConvShape& s);

// Of a volume an image is an output plane, and the planes that it reads, of all channels, are its
// input channels: plane first + image * step + tap of the depth, for each tap `channels` of them.
// What lies outside the `planes` is zero. Steps::image is one plane.
struct Volume {
  Index planes = 0, first = 0, step = 0, channels = 0;  // 0 planes: no volume
};

struct Correlation {
  Index n, c, out;  // images, input and output channels of this group
  Axis rows, cols;
  Steps from, to;
  Index to_width;             // of a stored plane
  Index w_in, w_out, kh, kw;  // weight strides per input and per output channel; kernel
  const float* bias;              // out floats, or null
  Volume volume = {};

  Index taps() const { return Index(rows.tap.size() * cols.tap.size()); }
  Index stored(Index h, Index q) const {  // where output q of row h is, in its plane
    return ((rows.first + h * rows.pitch) * to_width + cols.first + q * cols.pitch) * to.pixel;
  }
  Index products(Index images) const { return images * c * out * taps() * rows.out * cols.out; }

  // Calls f(first channel, how many, the first one's elements or null where all are zero) for the
  // planes that an image reads.
  template <class T, class F>
  void each_plane(const T* x, Index image, const F& f) const {
    const Index together = volume.planes ? volume.channels : c;
    for (Index i = 0, tap = 0; i < c; i += together, ++tap) {
      const Index at = volume.planes ? volume.first + image * volume.step + tap : image;
      const bool inside = !volume.planes || (at >= 0 && at < volume.planes);
      f(i, together, inside ? x + at * from.image : nullptr);
    }
  }
};

inline constexpr Index kFewestImages = 4;  // that are brought together, to fill tiles
inline constexpr Index kLongRow = 24;  // results of a row, which fill tiles themselves

// Work of one task: some images and some output rows.
inline constexpr Index kTaskProducts = 300'000'000;
// Into how many bands of rows to cut, so that all threads have work and Ctrl-C is answered.
Index row_bands(const Correlation& s, Index images_a_task, Index tasks);

// packed[panel][kh][kw][c][lane]: `lanes` output channels side by side, the last panel filled up
// with zeros.
void pack_weights(const Correlation& s, const float* w, Index lanes, float* packed);
std::vector<float> padded_bias(const Correlation& s, Index lanes);

// Where each tap and channel lies, [kh][kw][c], from elements to the next row, column and channel.
std::vector<int> tap_offsets(const Correlation& s, Index row, Index column, Index channel);

// `count` pixels of an image's row, from a column on, as [pixel][channel].
void pack_row(const Correlation& s, const float* x, Index image, Index row, Index column,
              Index count, float* to);

// Sums of output rows [h0, h1), [pixel][image][lane], of `lanes` channels from panel b on and of
// `group` images from the first one on, into y.
void store_sums(const Correlation& s, const float* sums, Index lanes, Index group, Index first,
                Index b, Index h0, Index h1, float* y);

// Calls f(b, h0, h1) for all panels of `panel` weights, tiles().panels of them from b on, and
// `block` of the rows [begin, end), which read `inputs` elements. Either the weights or those are
// read again and again from beyond the second cache: the fewer.
template <class F>
void for_panels_and_rows(Index panels, Index panel, Index begin, Index end, Index block,
                         Index inputs, const F& f) {
  const Index wide = tiles().panels;
  const Index blocks = (end - begin + block - 1) / block, turns = (panels + wide - 1) / wide;
  if (blocks * panels * panel < turns * inputs)
    for (Index h = begin; h < end; h += block)
      for (Index b = 0; b < panels; b += wide) f(b, h, std::min(end, h + block));
  else
    for (Index b = 0; b < panels; b += wide)
      for (Index h = begin; h < end; h += block) f(b, h, std::min(end, h + block));
}

// Rows of one image as [h][c][column phase][column], zeros left and right, so that neighbouring
// outputs read neighbouring floats.
struct Columns {
  Index left, width, row;  // zeros on the left, elements per phase and per image row
  explicit Columns(const Correlation& s);
  // Rows [h0, h1) of one of the images x into d, whose margins are zero already and stay so.
  template <class T>  // float or double
  void pack(const Correlation& s, const T* x, Index image, Index h0, Index h1, T* d) const;
  // [kh][kw][c], relative to the row and column of the output.
  std::vector<int> offsets(const Correlation& s) const;
};

// x, w and y as their steps say.
void correlate(const Correlation& s, const float* x, const float* w, float* y);
void correlate_channels(const Correlation& s, const float* x, const float* w, float* y);
void correlate_columns(const Correlation& s, const float* x, const float* w, float* y);
// Channels innermost in x and y, and rows of results long enough.
bool suits_pixels(const Correlation& s);
void correlate_pixels(const Correlation& s, const float* x, const float* w, float* y);
// So many of them, a channel each: s is the first, of one output channel, and one input channel or
// the planes of a volume. w: [plane][input channel][kh][kw]. Bias: of all planes, or null.
template <class T>  // float or double
void correlate_planes(const Correlation& s, Index planes, const T* x, const T* w, const T* bias,
                      T* y);

// Of float images, or of bfloat16 where the processor multiplies them.
template <class S>
void weight_gradient(const ConvShape& s, const S* x, const S* grad, float* grad_weight);
// Of images that are spread as the steps say.
void weight_gradient(const ConvShape& s, const Steps& from, const Steps& to, const float* x,
                     const float* grad, float* grad_weight);
template <class T>  // float or double
void depthwise_weight_gradient(const ConvShape& s, const T* x, const T* grad, T* grad_weight);

// Depthwise, of images whose channels lie innermost (s.inside).
template <class S>
void depthwise_forward(const ConvShape& s, const S* x, const S* w, const S* bias, S* y);
template <class S>
void depthwise_grad_input(const ConvShape& s, const S* grad, const S* w, const S* bias, S* grad_x);
template <class S>
void depthwise_grad_weight(const ConvShape& s, const S* x, const S* grad, Compute<S>* grad_w);

// Planes of doubles whose channels lie innermost (s.inside), in any groups.
void inside_forward(const ConvShape& s, const double* x, const double* w, const double* bias,
                    double* y);
void inside_grad_input(const ConvShape& s, const double* grad, const double* w, const double* bias,
                       double* grad_x);
void inside_grad_weight(const ConvShape& s, const double* x, const double* grad, double* grad_w);

// Windows of one image that lie side by side (patches.cpp).
bool is_patches(const ConvShape& s);
void patches_forward(const ConvShape& s, const float* x, const float* w, const float* bias,
                     float* y);

// Three dimensions, one group, no dilation of the depth; the input's gradient for a stride of 1
// along it.
// Depthwise.
template <class T>
void planes_of_volume_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y);
template <class T>
void planes_of_volume_input_gradient(const ConvShape& s, const T* grad, const T* w, const T* bias,
                                     T* grad_x);
void volume_forward(const ConvShape& s, const float* x, const float* w, const float* bias,
                    float* y);
void volume_input_gradient(const ConvShape& s, const float* grad, const float* w, const float* bias,
                           float* grad_x);
void volume_weight_gradient(const ConvShape& s, const float* x, const float* grad,
                            float* grad_weight);

// Any dimensions, in T, by a column matrix and a product per image.
template <class T>
struct General {
  static void forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y);
  static void grad_input(const ConvShape& s, const T* grad, const T* w, const T* bias, T* grad_x);
  static void grad_weight(const ConvShape& s, const T* x, const T* grad, T* grad_w);
};
extern template struct General<float>;
extern template struct General<double>;
extern template struct General<std::uint8_t>;
extern template struct General<std::int8_t>;
extern template struct General<std::int16_t>;
extern template struct General<std::int32_t>;
extern template struct General<std::int64_t>;

}  // namespace rushlight::conv
