// The weight gradient's course, whatever computes its sums: bands of the images' gradients are
// packed, several at a time, and a Group adds what they contribute. Every thread sums some images,
// and the sums are added in order, so a result depends on the number of threads but not on their
// timing.
#pragma once
#include <algorithm>
#include <array>

#include "bfloat16.h"
#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {

inline constexpr Index kMostBands = 16;

// d[pixel][channel]
template <class S>
void by_pixel(const Steps& s, const S* x, Index channels, Index pixels, S* d, Index ldd) {
  if (s.channel != 1)
    transpose(x, s.channel, channels, pixels, d, ldd);
  else if (channels == s.pixel && channels == ldd)
    std::copy_n(x, pixels * channels, d);
  else
    for (Index i = 0; i < pixels; ++i) std::copy_n(x + i * s.pixel, channels, d + i * ldd);
}
// n pixels of `lanes` elements, each with those of the pixel `step` behind it.
void pair_up(const std::uint16_t* x, Index lanes, Index step, Index n, Pair* to);
void add(Index n, const float* from, float* to);

// How the images are cut.
struct Bands {
  Index count;     // in an image
  Index products;  // of one image and group
  explicit Bands(const ConvShape& s);
  // The rows of the gradient that make up band i of all images' bands.
  std::pair<Index, Index> rows(const ConvShape& s, Index i) const {
    return {s.result[1] * (i % count) / count, s.result[1] * (i % count + 1) / count};
  }
};

// What every Group knows of one group of channels.
struct GroupShape {
  const ConvShape& s;
  Axis rows, cols;
  Steps from, to;
  Index c, out, padded, run;   // channels; columns with padding; kw * c
  Index band_rows, most_rows;  // of the gradient, and of the image under them
  GroupShape(const ConvShape& shape, const Bands& bands);
};

// A Group is a GroupShape and has: together, bands at a time; image_cells, grad_cells and sums_size
// for each; pack(x, grad, j, rows, images, grads), add_bands(i, count, images, grads, sums) and
// put(sums, weights).
template <class Group, class S>
void sum_bands(const ConvShape& s, const Bands& bands, const Group& g, const S* x, const S* grad,
               float* grad_weight) {
  const Index kernel = s.kernel[1] * s.kernel[2];
  const Index tasks = s.n * bands.count, one = bands.products / bands.count;
  const Index workers =
      std::clamp<Index>(tasks * one / 250'000, 1, std::min<Index>(num_threads(), tasks));
  // In rounds short enough that Ctrl-C is answered between them.
  const Index round = workers * std::max<Index>(1, 2 * kTaskProducts / (one + 1));
  Scratch<float> sums(std::size_t(workers * g.sums_size));
  for (Index group = 0; group < s.groups; ++group) {
    sums.zero();
    for (Index start = 0; start < tasks; start += round) {
      const Index count = std::min(round, tasks - start);
      parallel_for(workers, 1, [&](Index begin, Index end) {
        Scratch<typename Group::Cell> images(std::size_t(g.together * g.image_cells));
        Scratch<typename Group::GradCell> grads(std::size_t(g.together * g.grad_cells));
        images.zero();
        grads.zero();
        for (Index worker = begin; worker < end; ++worker) {
          const Index last = start + count * (worker + 1) / workers;
          for (Index i = start + count * worker / workers, some; i < last; i += some) {
            some = std::min(g.together, last - i);
            for (Index j = 0; j < some; ++j) {
              const Index n = (i + j) / bands.count;
              g.pack(x + n * g.from.image + group * g.c * g.from.channel,
                     grad + n * g.to.image + group * g.out * g.to.channel, j, bands.rows(s, i + j),
                     images.data(), grads.data());
            }
            g.add_bands(i, some, images.data(), grads.data(), sums.data() + worker * g.sums_size);
          }
        }
      });
      check_interrupt();
    }
    for (Index worker = 1; worker < workers; ++worker)
      add(g.sums_size, sums.data() + worker * g.sums_size, sums.data());
    g.put(sums.data(), grad_weight + group * g.out * g.c * kernel);
  }
}

// By the processor's tiles (linalg/amx.h); false where it has none or the shape does not suit.
bool weight_gradient_by_amx(const ConvShape& s, const std::uint16_t* x, const std::uint16_t* grad,
                            float* grad_weight);

}  // namespace rushlight::conv
