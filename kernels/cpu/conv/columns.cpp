// Correlation with the columns of an output row in the vector's lanes and weights broadcast: for
// few output channels, of all or of a group (depthwise: planes.cpp). Writes NCHW directly.
#include <algorithm>

#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {

void correlate_columns(const Correlation& s, const float* x, const float* w, float* y) {
  const Tiles& t = tiles();
  const Index blocks = (s.out + t.channels - 1) / t.channels, p = (s.out + blocks - 1) / blocks;
  const Index kw_c = Index(s.cols.tap.size()) * s.c, panel = s.taps() * s.c * p;
  Scratch<float> weights(std::max<Index>(blocks * panel, 1));
  pack_weights(s, w, p, weights.data());
  const std::vector<float> bias = padded_bias(s, p);
  const Columns columns(s);
  const std::vector<int> off = columns.offsets(s);
  const Index width = t.width;

  const auto run = [&](Index n, Index begin, Index end, float* packed, float* sums) {
    const auto [r0, r1] = s.rows.reads(begin, end);
    columns.pack(s, x, n, r0, r1, packed);
    for (Index h = begin; h < end; ++h) {
      const auto [t0, t1] = s.rows.inside(h);
      const Index first = t0 * kw_c, count = (t1 - t0) * kw_c;
      for (Index q = 0; q < s.cols.out;) {
        const Index v = s.cols.out - q > width ? 2 : 1, used = std::min(v * width, s.cols.out - q);
        for (Index b = 0; b < blocks; ++b) {
          const Index channels = std::min(p, s.out - b * p);
          const Index step = s.cols.pitch * s.to.pixel;
          const bool direct = step == 1 && used == v * width && channels == p;
          float* d = y + n * s.to.image + b * p * s.to.channel + s.stored(h, q);
          t.channel_tile[v - 1][p - 1]({packed + (h * s.rows.step - r0) * columns.row + q,
                                        off.data() + first, count,
                                        weights.data() + b * panel + first * p, bias.data() + b * p,
                                        direct ? d : sums, direct ? s.to.channel : v * width});
          for (Index o = 0; o < channels && !direct; ++o)
            for (Index i = 0; i < used; ++i)
              d[o * s.to.channel + i * step] = sums[o * v * width + i];
        }
        q += used;
      }
    }
  };

  const Index bands = row_bands(s, 1, s.n), band_rows = (s.rows.out + bands - 1) / bands;
  const Index most = std::min(
      s.rows.in, band_rows * s.rows.step +
                     (s.rows.shift.empty() ? 0 : s.rows.shift.back() - s.rows.shift.front()) + 1);
  const Index grain = 1 + 200'000 / std::max<Index>(s.products(1) / bands, 1);
  parallel_for(s.n * bands, grain, [&](Index begin, Index end) {
    Scratch<float> packed(most * columns.row), sums(p * 2 * width);
    packed.zero();  // the margins stay zero
    for (Index i = begin; i < end; ++i) {
      const Index band = i % bands;
      run(i / bands, s.rows.out * band / bands, s.rows.out * (band + 1) / bands, packed.data(),
          sums.data());
    }
  });
}

}  // namespace rushlight::conv
