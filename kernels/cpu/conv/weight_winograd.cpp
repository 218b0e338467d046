// Weight gradient by Winograd's tiles: the transposed of correlating with them, so that 2 x 2
// gradients of results take 16 products for the 9 weights in place of 36. Sums are kept for each of
// the 16, [out][c], and transformed at the end.
#include "weight.h"
#include "winograd.h"

namespace rushlight::conv {
namespace {

constexpr Index kNearBytes = 512 << 10;  // of transformed tiles
constexpr Index kNearSums = 1 << 20;  // bytes; larger ones are read and written again for
constexpr Index kManyTiles = 128;  // so many tiles at least

// An image and its gradient as of a Correlation, whose rows WinogradRows reads.
Correlation correlation_of(const GroupShape& g) {
  return {g.s.n,         g.c, g.out,   g.rows, g.cols, g.from, g.to,
          g.s.result[2], 9,   9 * g.c, 3,      3,      nullptr};
}

struct Group : GroupShape {
  using Cell = float;
  using GradCell = float;
  const Bands& bands;
  Correlation planes;
  WinogradTiles tiles_of;
  Index most, together;  // tiles of a band, bands at a time
  Index image_cells, grad_cells, sums_size, frequency;

  Group(const ConvShape& shape, const Bands& cut)
      : GroupShape(shape, cut),
        bands(cut),
        planes(correlation_of(*this)),
        tiles_of(cols),
        most((band_rows + 1) / kTileOut * tiles_of.across),
        together((tiles_at_once() + most - 1) / most),
        image_cells(kFrequencies * (most * c + kWinogradGap)),
        grad_cells(kFrequencies * (most * out + kWinogradGap)),
        sums_size(kFrequencies * (out * c + kWinogradGap)),
        frequency(out * c + kWinogradGap) {}

  Index tiles_at_once() const {
    const Index near = kNearBytes / (kFrequencies * (c + out) * Index(sizeof(float)));
    const bool is_large = kFrequencies * c * out * Index(sizeof(float)) > kNearSums;
    return is_large ? std::max(near, kManyTiles) : std::max<Index>(near, 1);
  }
  Index panel() const { return together * most * kPanel; }
  Index in_frequency() const { return together * most * c + kWinogradGap; }
  Index grad_frequency() const { return together * most * out + kWinogradGap; }

  // images: [frequency][panel][tile][16]; grads: [frequency][tile][out]. Band j has `most` tiles of
  // them, the last of which may be zeros.
  void pack(const float* x, const float* grad, Index j, std::pair<Index, Index> band, float* images,
            float* grads) const {
    images += j * most * kPanel, grads += j * most * out;
    const WinogradTransforms& transform = winograd_transforms();
    const Index width = kTileOut * tiles_of.across;
    WinogradRows above(planes, tiles_of);
    Scratch<float> below(std::size_t(kTileOut * width * out));
    below.zero();
    for (Index h = band.first; h < band.second; h += kTileOut) {
      above.load(x, 0, h, h > band.first);
      for (Index i = 0; i < kTileOut; ++i) {
        float* const row = below.data() + i * width * out;
        if (h + i < band.second)
          by_pixel(to, grad + (h + i) * cols.out * to.pixel, out, cols.out, row, out);
        else
          std::fill_n(row, width * out, 0.f);
      }
      for (Index t = 0; t < tiles_of.across; ++t, images += kPanel, grads += out) {
        const float *in[kTileIn], *result[kTileOut];
        for (Index i = 0; i < kTileIn; ++i) in[i] = above.row(i) + t * kTileOut * c;
        for (Index i = 0; i < kTileOut; ++i)
          result[i] = below.data() + (i * width + t * kTileOut) * out;
        transform.input(in, c, c / kPanel, images, panel(), in_frequency());
        transform.grad_output(result, out, out / kPanel, grads, grad_frequency());
      }
    }
    const Index left = most - (band.second - band.first + 1) / kTileOut * tiles_of.across;
    for (Index f = 0; f < kFrequencies; ++f) {
      std::fill_n(grads + f * grad_frequency(), left * out, 0.f);
      for (Index b = 0; b < c / kPanel; ++b)
        std::fill_n(images + f * in_frequency() + b * panel(), left * kPanel, 0.f);
    }
  }

  void add_bands(Index, Index some, const float* images, const float* grads, float* sums) const {
    const Tiles& t = tiles();
    const Index count = some * most;
    const Index panels = c / kPanel, parts = (out + t.p - 1) / t.p;
    std::vector<int> off;
    for (Index k = 0; k < count; ++k) off.push_back(int(k * out));
    for (Index f = 0; f < kFrequencies; ++f)
      for (Index b = 0; b < panels; b += t.panels) {
        const Index v = std::min(t.panels, panels - b);
        for (Index part = 0; part < parts; ++part) {
          const Index o = out * part / parts, p = out * (part + 1) / parts - o;
          t.tile[v - 1][p - 1]({grads + f * grad_frequency() + o, off.data(), 1, count, count,
                                images + f * in_frequency() + b * panel(), panel(),
                                sums + f * frequency + o * c + b * kPanel, c, nullptr});
        }
      }
  }

  void put(const float* sums, float* grad_weight) const {
    parallel_for(out, 1 + 4096 / c, [&](Index begin, Index end) {
      Scratch<float> taps(std::size_t(9 * c));
      for (Index o = begin; o < end; ++o) {
        winograd_transforms().grad_weights(sums + o * c, frequency, c / kPanel, taps.data(), c);
        transpose(taps.data(), c, 9, c, grad_weight + o * c * 9, 9);
      }
    });
  }
};

// Of whole panels; a sum for each lane, as one sum would wait for itself at every element.
CLONES bool all_finite(const float* x, Index n) {
  float seen[kPanel] = {};
  for (Index i = 0; i < n; i += kPanel)
    for (Index lane = 0; lane < kPanel; ++lane) seen[lane] += x[i + lane] * 0.f;
  return std::all_of(seen, seen + kPanel, [](float v) { return v == 0; });
}

}  // namespace

bool winograd_weight_gradient(const ConvShape& s, const Steps& from, const Steps& to,
                              const float* x, const float* grad, float* grad_weight) {
  Bands bands(s);
  const GroupShape shape(s, bands);
  Correlation planes = correlation_of(shape);
  if (!suits_winograd(planes)) return false;
  const Index row = kFrequencies * WinogradTiles(shape.cols).across * (shape.c + shape.out) *
                    Index(sizeof(float));
  const Index rows = std::max<Index>(1, kNearBytes / row) * kTileOut;
  bands.count = std::max(bands.count, (s.result[1] + rows - 1) / rows);
  Group group(s, bands);
  group.from = group.planes.from = from;
  group.to = to;
  sum_bands(s, bands, group, x, grad, grad_weight);
  return all_finite(grad_weight, s.out * shape.c * 9);
}

}  // namespace rushlight::conv
