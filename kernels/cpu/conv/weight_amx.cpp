// The weight gradient of bfloat16 in the processor's tiles: rows are output channels, the depth
// runs over pairs of pixels, columns are input channels, and, without dilation, the kernel's
// columns of them, as those lie one after another. Where it saves tiles, the rows of a band are one
// row, with zeros in the gradient where the image has its margins.
#include <vector>

#include "kernels/cpu/linalg/amx.h"
#include "weight.h"

namespace rushlight::conv {
namespace {

using amx::kTile;
constexpr Index kBandBytes = 2 << 20, kWide = 2 * kTile, kBlock = kWide * kWide;

struct AmxGroup : GroupShape {
  using Cell = Pair;
  using GradCell = std::uint16_t;
  struct Columns {
    Index offset, first, used;  // in the image; of kw * c
  };
  Index pitch, each, lots, depth;  // of a row of the gradient; pairs at once, how often; elements
  Index image_cells, grad_cells, sums_size, together;
  std::vector<Columns> columns;
  std::vector<int> offsets;

  AmxGroup(const ConvShape& shape, const Bands& bands) : GroupShape(shape, bands) {
    const Index joined = (band_rows * padded + kWide - 1) / kWide;
    const Index in_a_row = (cols.out + kWide - 1) / kWide;
    const bool joins = rows.step == cols.step && joined < band_rows * in_a_row;
    lots = joins ? joined : band_rows * in_a_row;
    each = joins ? kTile : ((cols.out + 1) / 2 + in_a_row - 1) / in_a_row;
    pitch = joins ? padded : 2 * each * in_a_row;
    depth = 2 * each * lots;
    // Behind the last row, tiles read what they multiply by zeros.
    image_cells = ((joins ? depth * cols.step : most_rows * padded) +
                   (s.kernel[1] - 1) * s.dilation[1] * padded +
                   (2 * each * cols.step + s.kernel[2] * s.dilation[2])) *
                      c +
                  kWide;
    const Index height = (out + kWide - 1) / kWide * kWide;
    grad_cells = height * depth;
    const Index span = s.dilation[2] == 1 ? run : c;
    for (Index first = 0; first < run; first += span)
      for (Index i = 0; i < span; i += kWide)
        columns.push_back({first * s.dilation[2] + i, first + i, std::min(kWide, span - i)});
    sums_size = s.kernel[1] * height * Index(columns.size()) * kWide;
    const Index bytes = image_cells * Index(sizeof(Cell)) + grad_cells * Index(sizeof(GradCell));
    together = std::clamp<Index>(kBandBytes / bytes, 1, kMostBands);
    for (Index j = 0; j < together; ++j)
      for (Index lot = 0; lot < lots; ++lot)
        offsets.push_back(int(j * image_cells + offset(lot, joins, in_a_row)));
  }
  Index offset(Index lot, bool joins, Index in_a_row) const {
    if (joins) return lot * kWide * cols.step * c;
    return (lot / in_a_row * rows.step * padded + lot % in_a_row * 2 * each * cols.step) * c;
  }

  void pack(const std::uint16_t* x, const std::uint16_t* grad, Index j,
            std::pair<Index, Index> band, Cell* images, GradCell* grads) const {
    const auto [b0, b1] = band;
    const auto [r0, r1] = rows.reads(b0, b1);
    const Index top = b0 * rows.step + rows.shift.front();
    const Index row = padded * c;
    Scratch<std::uint16_t> pixels(std::size_t(most_rows * row + cols.step * c));
    pixels.zero();
    for (Index h = r0; h < r1; ++h)
      by_pixel(from, x + h * s.in[2] * from.pixel, c, s.in[2],
               pixels.data() + (h - top) * row + s.padding[2] * c, c);
    pair_up(pixels.data(), c, cols.step, most_rows * padded, images + j * image_cells);
    const Index step = together * depth;  // from channel to channel
    for (Index h = 0; h < band_rows; ++h) {
      std::uint16_t* const to_row = grads + j * depth + h * pitch;
      const std::uint16_t* const row = grad + (b0 + h) * cols.out * to.pixel;
      if (h >= b1 - b0)
        for (Index o = 0; o < out; ++o) std::fill_n(to_row + o * step, cols.out, GradCell(0));
      else if (to.pixel == 1)
        for (Index o = 0; o < out; ++o)
          std::copy_n(row + o * to.channel, cols.out, to_row + o * step);
      else
        transpose(row, to.pixel, cols.out, out, to_row, step);
    }
  }

  void add_bands(Index, Index count, const Cell* images, const GradCell* grads, float* sums) const {
    const amx::Tiles tiles(each);
    const Index step = together * depth;
    for (Index r = 0; r < s.kernel[1]; ++r)
      for (const Columns& column : columns) {
        const Pair* const right = images + r * s.dilation[1] * padded * c + column.offset;
        for (Index o = 0; o < out; o += kWide, sums += kBlock)
          amx::multiply({{grads + o * step, o + kTile < out ? grads + (o + kTile) * step : nullptr},
                         {},
                         step * Index(sizeof(GradCell)),
                         each * Index(sizeof(Pair)),
                         right,
                         2 * cols.step * c * Index(sizeof(Pair)),
                         offsets.data(),
                         count * lots,
                         sums,
                         true,
                         right,
                         0});
      }
  }

  void put(const float* sums, float* grad_weight) const {
    const Index kernel = s.kernel[1] * s.kernel[2], blocks = (out + kWide - 1) / kWide;
    Scratch<float> one(std::size_t(kernel * c));  // [tap][input channel] of an output channel
    for (Index o = 0; o < out; ++o, grad_weight += kernel * c) {
      const float* from_row = sums + o / kWide * kBlock + o % kWide * kWide;
      for (Index r = 0; r < s.kernel[1]; ++r)
        for (const Columns& column : columns) {
          std::copy_n(from_row, column.used, &one[std::size_t(r * run + column.first)]);
          from_row += blocks * kBlock;
        }
      transpose(one.data(), c, kernel, c, grad_weight, kernel);
    }
  }
};

}  // namespace

bool weight_gradient_by_amx(const ConvShape& s, const std::uint16_t* x, const std::uint16_t* grad,
                            float* grad_weight) {
  if (!amx::is_available()) return false;
  const Bands bands(s);
  sum_bands(s, bands, AmxGroup(s, bands), x, grad, grad_weight);
  return true;
}

}  // namespace rushlight::conv
