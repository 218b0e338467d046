// Correlation with output channels in the vector's lanes. Sums appear as [pixel][image][lane] and
// are transposed into NCHW; where channels lie innermost, the tiles write them in place. Up to 16
// images are interleaved as [h][w][c][image], so that every pixel's taps are an exact rectangle; a
// few images or very long rows go by columns of one image.
#include <algorithm>

#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kMostImages = 16;
constexpr Index kWindowBytes = 640 << 10;  // rows under the kernel must stay in the second cache

struct Correlating {
  const Correlation& s;
  const float *x, *weights, *bias;  // weights packed, bias filled up to whole panels
  float* y;
  Columns columns;
  std::vector<int> column_off;
  bool interleaved;
};

// [row][column][c][image] for rows [r0, r1) of `group` images from the first one on.
void interleave(const Correlation& s, const float* x, Index first, Index group, Index r0, Index r1,
                float* d) {
  const Index pixels = (r1 - r0) * s.cols.in, at = r0 * s.cols.in * s.from.pixel;
  const float* const images = x + first * s.from.image + at;
  const Volume& volume = s.volume;
  if (volume.planes) {
    for (Index c = 0; c < s.c; c += volume.channels, d += volume.channels * group) {
      const Index plane = volume.first + first * volume.step + c / volume.channels;
      const Index i0 = std::clamp<Index>((volume.step - 1 - plane) / volume.step, 0, group);
      const Index i1 =
          std::clamp<Index>((volume.planes - plane + volume.step - 1) / volume.step, i0, group);
      if (i1 - i0 < group)
        for (Index p = 0; p < pixels; ++p)
          std::fill_n(d + p * s.c * group, volume.channels * group, 0.f);
      if (i0 == i1) continue;
      const float* const from = x + at + (plane + i0 * volume.step) * s.from.image;
      const Index apart = volume.step * s.from.image;
      if (s.from.channel == 1)
        for (Index p = 0; p < pixels; ++p)
          transpose(from + p * s.from.pixel, apart, i1 - i0, volume.channels,
                    d + p * s.c * group + i0, group);
      else
        for (Index i = 0; i < volume.channels; ++i)
          transpose(from + i * s.from.channel, apart, i1 - i0, pixels, d + i * group + i0,
                    s.c * group);
    }
  } else if (s.from.channel != 1) {
    for (Index c = 0; c < s.c; ++c)
      transpose(images + c * s.from.channel, s.from.image, group, pixels, d + c * group,
                s.c * group);
  } else if (s.from.pixel == s.c) {
    transpose(images, s.from.image, group, pixels * s.c, d, group);
  } else {
    for (Index i = 0; i < pixels; ++i)
      transpose(images + i * s.from.pixel, s.from.image, group, s.c, d + i * s.c * group, group);
  }
}

// Output rows [begin, end) of images [first, first + group).
void run(const Correlating& k, Index first, Index group, Index begin, Index end) {
  const Correlation& s = k.s;
  const Tiles& t = tiles();
  const Axis &rows = s.rows, &cols = s.cols;
  const auto [r0, r1] = rows.reads(begin, end);
  const Index kw_c = Index(cols.tap.size()) * s.c, panel = s.taps() * s.c * kPanel;
  const Index panels = (s.out + kPanel - 1) / kPanel;
  const Index row_floats = k.interleaved ? cols.in * s.c * group : k.columns.row;
  Scratch<float> packed(std::max<Index>((r1 - r0) * row_floats, 1));
  std::vector<int> image_off;
  if (k.interleaved) {
    interleave(s, k.x, first, group, r0, r1, packed.data());
    image_off = tap_offsets(s, row_floats, s.c * group, group);
  } else {
    packed.zero();
    k.columns.pack(s, k.x, first, r0, r1, packed.data());
  }
  const int* off = (k.interleaved ? image_off : k.column_off).data();
  // a's contiguous direction, cut into tiles as even as possible
  const Index width = k.interleaved ? group : cols.out, parts = (width + t.p - 1) / t.p;
  const Index block = std::clamp<Index>((k.interleaved ? 64 : 256) / cols.out, 1, end - begin);
  Scratch<float> sums(block * cols.out * group * t.panels * kPanel);
  const auto compute = [&](Index b, Index h0, Index h1) {
    const Index v = std::min(t.panels, panels - b), lanes = v * kPanel;
    const bool direct = s.to.channel == 1 && s.out - b * kPanel >= lanes;
    float* const to = k.y + first * s.to.image + b * kPanel;
    const Index step = k.interleaved ? s.to.image : s.to.pixel * cols.pitch;
    float* d = sums.data();
    for (Index h = h0; h < h1; ++h) {
      const auto [t0, t1] = rows.inside(h);
      for (Index q = 0; q < (k.interleaved ? cols.out : 1); ++q) {
        const auto [u0, u1] =
            k.interleaved ? cols.inside(q) : std::pair(Index(0), Index(cols.tap.size()));
        const Index tap = t0 * kw_c + u0 * s.c;
        const Index pixel =
            (h * rows.step - r0) * row_floats + (k.interleaved ? q * cols.step * s.c * group : 0);
        for (Index i = 0; i < parts; ++i) {
          const Index p0 = width * i / parts, p = width * (i + 1) / parts - p0;
          t.tile[v - 1][p - 1]({packed.data() + pixel + p0, off + tap, t1 - t0, kw_c,
                                (u1 - u0) * s.c, k.weights + b * panel + tap * kPanel, panel,
                                direct ? to + s.stored(h, q) + p0 * step : d, direct ? step : lanes,
                                k.bias + b * kPanel});
          d += p * lanes;
        }
      }
    }
    if (!direct) store_sums(s, sums.data(), lanes, group, first, b, h0, h1, k.y);
  };
  for_panels_and_rows(panels, panel, begin, end, block, (r1 - r0) * row_floats, compute);
}

}  // namespace

void correlate_channels(const Correlation& s, const float* x, const float* w, float* y) {
  const Index panels = (s.out + kPanel - 1) / kPanel;
  Scratch<float> weights(std::max<Index>(panels * s.taps() * s.c * kPanel, 1));
  pack_weights(s, w, kPanel, weights.data());
  const std::vector<float> bias = padded_bias(s, kPanel);
  Correlating k{s, x, weights.data(), bias.data(), y, Columns(s), {}, false};

  // Groups of images as even as possible, as many as the threads can share; where their rows are
  // long, as few images as fill a tile.
  const Index window = Index(s.rows.tap.size()) * s.cols.in * s.c * Index(sizeof(float));
  const Index p = tiles().p, images = p > kFewestImages ? kMostImages / p * p : kMostImages;
  const bool all_fit = window * images <= kWindowBytes;
  const Index most = !all_fit && window * p <= kWindowBytes ? p : images;
  Index groups = (s.n + most - 1) / most;
  const Index threads = num_threads(), even = (groups + threads - 1) / threads * threads;
  if (s.n / even >= kFewestImages) groups = even;
  const Index largest = (s.n + groups - 1) / groups;
  k.interleaved =
      s.cols.out < kLongRow && s.n / groups >= kFewestImages && window * largest <= kWindowBytes;
  if (!k.interleaved) {
    groups = s.n;
    k.column_off = k.columns.offsets(s);
  }
  const Index bands = row_bands(s, (s.n + groups - 1) / groups, groups);
  parallel_for(groups * bands, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index g = i / bands, band = i % bands;
      const Index n0 = s.n * g / groups, n1 = s.n * (g + 1) / groups;
      run(k, n0, n1 - n0, s.rows.out * band / bands, s.rows.out * (band + 1) / bands);
    }
  });
}

}  // namespace rushlight::conv
