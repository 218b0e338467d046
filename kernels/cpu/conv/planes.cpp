// Depthwise correlation of planes: one input and one output channel, columns in the lanes. A row of
// the output is one call, whose vectors do not wait for each other.
#include <algorithm>
#include <cstring>

#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"

namespace rushlight::conv {
namespace {

constexpr Index kLanes = 8, kAtOnce = 4;  // vectors
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));

// y[q] = bias + the sum over k of w[k] * x[off[k] + q], for V vectors
template <int V>
[[gnu::always_inline]] inline void columns_of(const float* x, const int* off, Index n,
                                              const float* w, float bias, float* y) {
  Floats acc[V];
  for (int v = 0; v < V; ++v) acc[v] = Floats{} + bias;
  for (Index k = 0; k < n; ++k) {
    const float* const from = x + off[k];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v)
      acc[v] += w[k] * *reinterpret_cast<const Floats*>(from + v * kLanes);
  }
  for (int v = 0; v < V; ++v) *reinterpret_cast<Floats*>(y + v * kLanes) = acc[v];
}

// Whole vectors: x and y have room for them.
CLONES void correlate_row(const float* x, const int* off, Index n, const float* w, float bias,
                          Index vectors, float* y) {
  Index v = 0;
  for (; v + kAtOnce <= vectors; v += kAtOnce)
    columns_of<kAtOnce>(x + v * kLanes, off, n, w, bias, y + v * kLanes);
  for (; v + 2 <= vectors; v += 2) columns_of<2>(x + v * kLanes, off, n, w, bias, y + v * kLanes);
  if (v < vectors) columns_of<1>(x + v * kLanes, off, n, w, bias, y + v * kLanes);
}

}  // namespace

void correlate_planes(const Correlation& s, Index planes, const float* x, const float* w,
                      float* y) {
  if (s.rows.out == 0 || s.cols.out == 0) return;
  const Columns columns(s);
  const std::vector<int> off = columns.offsets(s);
  const Index taps = s.taps(), kw = Index(s.cols.tap.size());
  std::vector<float> weights;
  for (Index i = 0; i < planes; ++i)
    for (Index h : s.rows.tap)
      for (Index v : s.cols.tap) weights.push_back(w[(i * s.kh + h) * s.kw + v]);
  const Index vectors = (s.cols.out + kLanes - 1) / kLanes, step = s.cols.pitch;
  const bool in_place = step == 1 && s.cols.out == vectors * kLanes;
  const Index bands = row_bands(s, 1, s.n * planes);
  const Index band_rows = (s.rows.out + bands - 1) / bands;
  const Index most = std::min(
      s.rows.in, band_rows * s.rows.step +
                     (s.rows.shift.empty() ? 0 : s.rows.shift.back() - s.rows.shift.front()) + 1);
  const Index grain = 1 + 100'000 / std::max<Index>(s.products(1) / bands, 1);
  parallel_for(s.n * planes * bands, grain, [&](Index begin, Index end) {
    Scratch<float> packed(std::max<Index>(most * columns.row, 1)), line(vectors * kLanes);
    packed.zero();  // the margins stay zero
    for (Index i = begin; i < end; ++i) {
      const Index plane = i / bands % planes, image = i / bands / planes;
      const Index h0 = s.rows.out * (i % bands) / bands, h1 = s.rows.out * (i % bands + 1) / bands;
      const auto [r0, r1] = s.rows.reads(h0, h1);
      columns.pack(s, x + image * s.from.image + plane * s.from.channel, r0, r1, packed.data());
      float* const to = y + image * s.to.image + plane * s.to.channel;
      for (Index h = h0; h < h1; ++h) {
        const auto [t0, t1] = s.rows.inside(h);
        float* const out = to + s.stored(h, 0);
        correlate_row(packed.data() + (h * s.rows.step - r0) * columns.row, off.data() + t0 * kw,
                      (t1 - t0) * kw, weights.data() + plane * taps + t0 * kw,
                      s.bias ? s.bias[plane] : 0.f, vectors, in_place ? out : line.data());
        if (in_place) continue;
        if (step == 1)
          std::memcpy(out, line.data(), std::size_t(s.cols.out) * sizeof(float));
        else
          for (Index q = 0; q < s.cols.out; ++q) out[q * step] = line[q];
      }
    }
  });
}

}  // namespace rushlight::conv
