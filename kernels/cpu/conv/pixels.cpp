// Correlation of images read pixel by pixel, with their channels innermost: a tile has neighbouring
// pixels of a row of results and output channels in the vector's lanes. Where channels lie
// innermost already nothing is transposed. Where a window leaves the image, rows are copied with
// zeros on both sides.
#include <algorithm>
#include <optional>

#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kBlockPixels = 240;  // of results, for each of which a panel of weights is read
constexpr Index kFewestPixels = 4;  // of a tile: fewer sums would wait for each other
constexpr Index kSmallImage = 64, kManyWeights = 1 << 20;  // in pixels, in bytes
constexpr Index kFewestChannels = 16;  // a line of the cache: fewer are soon transposed

// Rows of an image as [row][pixel][channel], with zeros where windows leave it.
struct Rows {
  Index left, pixels, pixel, row;  // zeros on the left, pixels of a row, elements of both
  bool in_place;
  explicit Rows(const Correlation& s) {
    const Axis& x = s.cols;
    const Index first = x.shift.empty() ? 0 : x.shift.front();
    const Index last = x.shift.empty() ? 0 : (x.out - 1) * x.step + x.shift.back();
    left = std::max<Index>(0, -first);
    in_place = s.from.channel == 1 && left == 0 && last < x.in && !s.volume.planes;
    pixels = in_place ? x.in : left + std::max(x.in, last + 1);
    pixel = in_place ? s.from.pixel : s.c;
    row = pixels * pixel;
  }
  void pack(const Correlation& s, const float* x, Index image, Index h0, Index h1,
            float* to) const {
    for (Index h = h0; h < h1; ++h, to += row) {
      float* const first = to + left * pixel;
      pack_row(s, x, image, h, 0, s.cols.in, first);
      std::fill(to, first, 0.f);
      std::fill(first + s.cols.in * pixel, to + row, 0.f);
    }
  }
  bool offsets_fit_ints(const Correlation& s) const {  // rows of all groups, where read in place
    const std::vector<Index>& y = s.rows.shift;
    return y.empty() || double(std::max(-y.front(), y.back()) + 1) * double(row) < 2e9;
  }
};

}  // namespace

bool suits_pixels(const Correlation& s) {
  const Tiles& t = tiles();
  const Index channels = s.volume.planes ? s.volume.channels : s.c;
  const bool inside =
      s.from.channel == 1 && s.to.channel == 1 && s.from.pixel >= channels && s.to.pixel >= s.out;
  // Planes, whose rows are transposed: the quicker way unless short rows of several images can be
  // brought together.
  const bool planes = s.from.pixel == 1 && s.to.pixel == 1 &&
                      (s.cols.out >= kLongRow || (s.n < kFewestImages && s.cols.out >= t.p));
  const Index parts = (s.cols.out + t.p - 1) / t.p;
  // Weights beyond the second cache would be read anew for every small image.
  const bool reads_weights = s.n >= 4 && s.rows.out * s.cols.out < kSmallImage &&
                             s.taps() * s.c * s.out * Index(sizeof(float)) > kManyWeights;
  return t.pixel_tile[0][0] && (inside || planes) && s.c >= kFewestChannels && !reads_weights &&
         s.cols.out >= kFewestPixels * parts && Rows(s).offsets_fit_ints(s);
}

void correlate_pixels(const Correlation& s, const float* x, const float* w, float* y) {
  const Tiles& t = tiles();
  const Index panels = (s.out + kPanel - 1) / kPanel, kw_c = Index(s.cols.tap.size()) * s.c;
  const Index panel = s.taps() * s.c * kPanel;
  Scratch<float> weights(std::max<Index>(panels * panel, 1));
  pack_weights(s, w, kPanel, weights.data());
  const std::vector<float> bias = padded_bias(s, kPanel);
  const Rows image(s);
  // Taps side by side are one run of elements.
  const Index taps = Index(s.cols.tap.size());
  const bool joined =
      image.pixel == s.c && (taps < 2 || s.cols.shift.back() - s.cols.shift.front() == taps - 1);
  const Index runs = joined ? std::min<Index>(taps, 1) : taps, length = joined ? kw_c : s.c;
  std::vector<int> off;
  for (const Index y : s.rows.shift)
    for (Index i = 0; i < runs; ++i)
      off.push_back(int(y * image.row + s.cols.shift[i] * image.pixel));
  const Index step = s.cols.step * image.pixel, to_step = s.cols.pitch * s.to.pixel;
  const Index parts = (s.cols.out + t.p - 1) / t.p;

  const auto run = [&](Index n, Index begin, Index end) {
    const auto [r0, r1] = s.rows.reads(begin, end);
    const float* rows = x + n * s.from.image + r0 * s.cols.in * s.from.pixel;
    std::optional<Scratch<float>> packed;
    if (!image.in_place) {
      packed.emplace(std::max<Index>((r1 - r0) * image.row, 1));
      image.pack(s, x, n, r0, r1, packed->data());
      rows = packed->data();
    }
    float* const out = y + n * s.to.image;
    const bool planes = s.to.channel != 1;  // then sums are transposed into them
    const Index block = std::clamp<Index>(kBlockPixels / s.cols.out, 1, end - begin);
    Scratch<float> edge(std::size_t((planes ? block * s.cols.out : t.p) * kPanel * t.panels));
    const auto compute = [&](Index b, Index h0, Index h1) {
      const Index v = std::min(t.panels, panels - b), lanes = v * kPanel;
      const Index used = std::min(lanes, s.out - b * kPanel);
      const bool direct = !planes && used == lanes;
      for (Index h = h0; h < h1; ++h) {
        const auto [t0, t1] = s.rows.inside(h);
        const float* const from =
            rows + (h * s.rows.step - r0) * image.row + image.left * image.pixel;
        for (Index i = 0; i < parts; ++i) {
          const Index p0 = s.cols.out * i / parts, p = s.cols.out * (i + 1) / parts - p0;
          float* const to = out + s.stored(h, p0) + b * kPanel;
          float* const sums = edge.data() + (planes ? ((h - h0) * s.cols.out + p0) * lanes : 0);
          t.pixel_tile[v - 1][p - 1](
              {from + p0 * step, off.data() + t0 * runs, (t1 - t0) * runs, length, length,
               weights.data() + b * panel + t0 * kw_c * kPanel, panel, direct ? to : sums,
               direct ? to_step : lanes, &bias[b * kPanel], step});
          for (Index q = 0; q < p && !direct && !planes; ++q)
            std::copy_n(sums + q * lanes, used, to + q * to_step);
        }
      }
      if (planes) store_sums(s, edge.data(), lanes, 1, n, b, h0, h1, y);
    };
    for_panels_and_rows(panels, panel, begin, end, block, (r1 - r0) * image.row, compute);
  };

  const Index bands = row_bands(s, 1, s.n);
  parallel_for(s.n * bands, 1 + 200'000 / std::max<Index>(s.products(1) / bands, 1),
               [&](Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index band = i % bands;
                   run(i / bands, s.rows.out * band / bands, s.rows.out * (band + 1) / bands);
                 }
               });
}

}  // namespace rushlight::conv
