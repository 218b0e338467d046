// Weight gradient: sums[kh][kw * c][out], for each image, tap row and block of kw * c a register
// tile whose k runs over the pixels. Elements of bfloat16 are multiplied by pairs of neighbouring
// pixels.
#include "weight.h"

#include "winograd.h"

namespace rushlight::conv {
namespace {

constexpr Index kBandBytes = 512 << 10;

// The outputs of [q0, q1) whose tap t lies inside the image.
std::pair<Index, Index> outputs(const Axis& x, Index t, Index q0, Index q1) {
  const Index shift = x.shift[t];
  const Index lo = shift >= 0 ? 0 : (-shift + x.step - 1) / x.step;
  const Index last = x.in - 1 - shift;
  const Index hi = last < 0 ? 0 : last / x.step + 1;
  const Index first = std::clamp(lo, q0, q1);
  return {first, std::clamp(hi, first, q1)};
}

// Every second pixel of a row, with the next one; of the last maybe none.
CLONES void pair_row(const std::uint16_t* x, Index n, Pair* to) {
  for (Index q = 0; q < n; q += 2, to += kPanel)
    for (Index i = 0; i < kPanel; ++i)
      to[i] = x[q * kPanel + i] | (q + 1 < n ? Pair(x[(q + 1) * kPanel + i]) << 16 : Pair(0));
}

template <class S>
struct Group : GroupShape {
  static constexpr bool by_pairs = sizeof(S) == 2;
  using Cell = std::conditional_t<by_pairs, Pair, float>;
  using GradCell = Cell;
  const Bands& bands;
  Index panels, ldo, span, parts;  // a tile's reach; tiles in it
  Index wide;  // terms of the sum in a row of the gradient
  Index image_cells, grad_cells, sums_size;
  Index together;  // the sums may be larger than the second cache, so that few bands cost too much
  std::vector<int> off;  // of each pixel of a band

  Group(const ConvShape& shape, const Bands& cut)
      : GroupShape(shape, cut),
        bands(cut),
        panels((out + kPanel - 1) / kPanel),
        ldo(panels * kPanel) {
    // A tile keeps to one kw where there are channels enough to fill it, or panels.
    const bool fills = by_pairs || panels > 1 ? c >= 8 : c > kPanel;
    span = fills || s.dilation[2] != 1 ? c : run;
    parts = (span + tiles().p - 1) / tiles().p;
    wide = by_pairs ? (cols.out + 1) / 2 : cols.out;
    image_cells = most_rows * padded * c + kPanel;
    grad_cells = panels * band_rows * wide * kPanel;
    sums_size = s.kernel[1] * run * ldo;
    together = std::clamp<Index>(kBandBytes / ((image_cells + grad_cells) * Index(sizeof(Cell))), 1,
                                 kMostBands);
    for (Index h = 0; h < band_rows; ++h)
      for (Index q = 0; q < cols.out; q += by_pairs ? 2 : 1)
        off.push_back(int((h * rows.step * padded + q * cols.step) * c));
  }

  // Rows `band` of an image's gradient, number j; `image` gets rows from b0 * step + shift[0] on.
  void pack(const S* x, const S* grad, Index j, std::pair<Index, Index> band, Cell* images,
            Cell* all_grads) const {
    const auto [b0, b1] = band;
    Cell* const image = images + j * image_cells;
    Cell* const grads = all_grads + j * grad_cells;
    const Index top = b0 * rows.step + rows.shift.front(), in_w = s.in[2];
    const auto [r0, r1] = rows.reads(b0, b1);
    const Index pixels = (b1 - b0) * cols.out, panel = band_rows * wide * kPanel;
    Scratch<S> line(by_pairs ? std::max((padded + cols.step) * c, pixels * kPanel) : 0);
    if (by_pairs) line.zero();
    for (Index h = r0; h < r1; ++h) {
      const S* const row = x + h * in_w * from.pixel;
      Cell* const to = image + (h - top) * padded * c;
      if constexpr (by_pairs) {
        by_pixel(from, row, c, in_w, line.data() + s.padding[2] * c, c);
        pair_up(line.data(), c, cols.step, padded, to);
      } else {
        by_pixel(from, row, c, in_w, to + s.padding[2] * c, c);
      }
    }
    for (Index b = 0; b < panels; ++b) {
      const S* const first = grad + b * kPanel * to.channel + b0 * cols.out * to.pixel;
      const Index used = std::min(kPanel, out - b * kPanel);
      if constexpr (by_pairs) {
        by_pixel(to, first, used, pixels, line.data(), kPanel);
        for (Index h = 0; h < b1 - b0; ++h)
          pair_row(&line[h * cols.out * kPanel], cols.out, grads + b * panel + h * wide * kPanel);
      } else {
        by_pixel(to, first, used, pixels, grads + b * panel, kPanel);
      }
    }
  }

  // Adds what `count` packed bands contribute: band i + j of the images one after another.
  void add_bands(Index i, Index count, const Cell* images, const Cell* grads, float* sums) const {
    const Tiles& t = tiles();
    const Index panel = band_rows * wide * kPanel;
    for (Index b = 0; b < panels; b += t.panels)
      for (Index r = 0; r < s.kernel[1]; ++r) {
        struct Rows {
          Index first, count;  // of the gradient whose tap lies inside the image; in the band
        } inside[kMostBands];
        for (Index j = 0; j < count; ++j) {
          const auto [b0, b1] = bands.rows(s, i + j);
          const auto [h0, h1] = outputs(rows, r, b0, b1);
          inside[j] = {h0 - b0, h1 - h0};
        }
        for (Index part = 0; part < run / span * parts; ++part) {
          const Index m = part / parts * span, m0 = m + span * (part % parts) / parts;
          const Index m1 = m + span * (part % parts + 1) / parts;
          // The block may span several kw: take every column one of them needs; the rest meets
          // zero padding.
          const Index q0 = by_pairs ? 0 : outputs(cols, (m1 - 1) / c, 0, cols.out).first;
          const Index q1 =
              by_pairs ? wide : std::max(q0, outputs(cols, m0 / c, 0, cols.out).second);
          const Index tap = m0 / c * s.dilation[2] * c + m0 % c;
          const Index used = std::min(t.panels, panels - b);
          const bool whole = q1 - q0 == wide;  // rows of the sum without gaps are one row
          for (Index j = 0; j < count; ++j) {
            const Index pixel = inside[j].first * wide + q0;
            const TileArgsOf<Cell> args{
                images + j * image_cells + r * s.dilation[1] * padded * c + tap,
                off.data() + pixel,
                whole ? 1 : inside[j].count,
                wide,
                whole ? inside[j].count * wide : q1 - q0,
                grads + j * grad_cells + b * panel + pixel * kPanel,
                panel,
                sums + (r * run + m0) * ldo + b * kPanel,
                ldo,
                nullptr};
            if constexpr (by_pairs)
              pair_tile(used, m1 - m0)(args);
            else
              t.tile[used - 1][m1 - m0 - 1](args);
          }
        }
      }
  }
  void put(const float* sums, float* grad_weight) const {
    const Index kernel = s.kernel[1] * s.kernel[2];
    for (Index i = 0; i < c; ++i)
      transpose(sums + i * ldo, c * ldo, kernel, out, grad_weight + i * kernel, c * kernel);
  }
};

}  // namespace

CLONES void add(Index n, const float* from, float* to) {
  for (Index i = 0; i < n; ++i) to[i] += from[i];
}
CLONES void pair_up(const std::uint16_t* x, Index lanes, Index step, Index n, Pair* to) {
  for (Index i = 0; i < n * lanes; ++i) to[i] = x[i] | Pair(x[i + step * lanes]) << 16;
}

Bands::Bands(const ConvShape& s) {
  const Index kernel = s.kernel[1] * s.kernel[2], threads = num_threads();
  products =
      std::max<Index>(s.out / s.groups * (s.c / s.groups) * kernel * s.result[1] * s.result[2], 1);
  count = products / kTaskProducts + 1;
  if (s.n < threads)
    count = std::max(count, std::min((threads + s.n - 1) / s.n, products / 250'000 + 1));
  count = std::clamp<Index>(count, 1, s.result[1]);
}

GroupShape::GroupShape(const ConvShape& shape, const Bands& bands)
    : s(shape),
      rows(forward_axis(s, 1)),
      cols(forward_axis(s, 2)),
      from(input_steps(s)),
      to(result_steps(s)),
      c(s.c / s.groups),
      out(s.out / s.groups),
      padded(s.in[2] + 2 * s.padding[2]),
      run(s.kernel[2] * c),
      band_rows((rows.out + bands.count - 1) / bands.count),
      most_rows((band_rows - 1) * rows.step + rows.shift.back() - rows.shift.front() + 1) {}

template <class S>
void weight_gradient(const ConvShape& s, const S* x, const S* grad, float* grad_weight) {
  if constexpr (sizeof(S) == 2) {
    if (weight_gradient_by_amx(s, x, grad, grad_weight)) return;
    const Bands bands(s);
    sum_bands(s, bands, Group<S>(s, bands), x, grad, grad_weight);
  } else {
    weight_gradient(s, input_steps(s), result_steps(s), x, grad, grad_weight);
  }
}

void weight_gradient(const ConvShape& s, const Steps& from, const Steps& to, const float* x,
                     const float* grad, float* grad_weight) {
  if (winograd_weight_gradient(s, from, to, x, grad, grad_weight)) return;
  const Bands bands(s);
  Group<float> group(s, bands);
  group.from = from;
  group.to = to;
  sum_bands(s, bands, group, x, grad, grad_weight);
}

template void weight_gradient(const ConvShape&, const float*, const float*, float*);
template void weight_gradient(const ConvShape&, const std::uint16_t*, const std::uint16_t*, float*);

}  // namespace rushlight::conv
