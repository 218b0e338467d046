// Depthwise correlation of planes: one input and one output channel, columns in the lanes. A row of
// the output is one call, whose vectors do not wait for each other; of a small plane all rows are,
// with the margins between them.
#include <algorithm>
#include <cstring>

#include "kernels/host_device.h"
#include "kernels/parallel.h"
#include "plan.h"
#include "plane_rows.h"

namespace rushlight::conv {
namespace {

constexpr Index kAtOnce = 4;  // vectors

// y[q] = bias + the sum over k of w[k] * x[off[k] + q], for V vectors
template <int V, class T>
[[gnu::always_inline]] inline void columns_of(const T* x, const int* off, Index n, const T* w,
                                              T bias, T* y) {
  using Vector = typename Lanes<T>::type;
  Vector acc[V];
  for (int v = 0; v < V; ++v) acc[v] = Vector{} + bias;
  for (Index k = 0; k < n; ++k) {
    const T* const from = x + off[k];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v)
      acc[v] += w[k] * *reinterpret_cast<const Vector*>(from + v * kLanes<T>);
  }
  for (int v = 0; v < V; ++v) *reinterpret_cast<Vector*>(y + v * kLanes<T>) = acc[v];
}

// Whole vectors: x and y have room for them.
template <class T>
CLONES void correlate_row(const T* x, const int* off, Index n, const T* w, T bias, Index vectors,
                          T* y) {
  constexpr Index lanes = kLanes<T>;
  Index v = 0;
  for (; v + kAtOnce <= vectors; v += kAtOnce)
    columns_of<kAtOnce>(x + v * lanes, off, n, w, bias, y + v * lanes);
  for (; v + 2 <= vectors; v += 2) columns_of<2>(x + v * lanes, off, n, w, bias, y + v * lanes);
  if (v < vectors) columns_of<1>(x + v * lanes, off, n, w, bias, y + v * lanes);
}

// A small plane with margins of zeros on all sides, cut into the phases of its strides, so that
// neighbouring outputs read neighbours, from the first row to the last.
template <class T>
struct SmallPlane {
  static constexpr Index kMost = 32768 / sizeof(T);  // elements, of the first cache
  struct Side {
    Index before, reach, phase;  // zeros, outputs that a window covers, phases
    explicit Side(const Axis& x)
        : before(x.shift.empty() ? 0 : std::max<Index>(0, -x.shift.front())),
          reach(x.shift.empty() ? 0 : std::max<Index>(0, x.shift.back() + before) / x.step),
          phase(x.step) {}
    // Outputs of phase f before the input begins, and inputs of that phase.
    Index first(Index f) const { return std::max<Index>(0, (before - f + phase - 1) / phase); }
    Index count(Index f, Index in, Index size) const {
      const Index end = std::max<Index>(0, (in + before - f + phase - 1) / phase);
      return std::max<Index>(0, std::min(end, size) - first(f));
    }
    Index from(Index f) const { return first(f) * phase + f - before; }
  };
  Side row, col;
  Index rows, pitch, elements, vectors;

  explicit SmallPlane(const Correlation& s)
      : row(s.rows),
        col(s.cols),
        rows(s.rows.out + row.reach),
        pitch(s.cols.out + col.reach),
        elements(row.phase * col.phase * rows * pitch),
        vectors((s.rows.out * pitch + kLanes<T> - 1) / kLanes<T>) {}

  bool suits(const Correlation& s) const {
    const bool few = s.cols.out < kAtOnce * kLanes<T> || s.cols.step > 1;
    return few && s.cols.step <= 2 && s.cols.pitch == 1 && s.rows.pitch == 1 && s.from.pixel == 1 &&
           s.to.pixel == 1 && row.phase <= kMost && rows <= kMost && pitch <= kMost &&
           elements <= kMost;
  }
  std::vector<int> offsets(const Correlation& s) const {
    std::vector<int> off;
    for (const Index y : s.rows.shift)
      for (const Index x : s.cols.shift) {
        const Index v = y + row.before, h = x + col.before;
        const Index phase = v % row.phase * col.phase + h % col.phase;
        off.push_back(int((phase * rows + v / row.phase) * pitch + h / col.phase));
      }
    return off;
  }
};

template <int Step, class T>
CLONES void fill_rows(const T* __restrict x, Index step, Index rows, Index count, Index pitch,
                      T* __restrict to) {
  for (Index r = 0; r < rows; ++r, x += step, to += pitch)
    for (Index i = 0; i < count; ++i) to[i] = x[i * Step];
}
template <class T>
void fill(const SmallPlane<T>& p, const Correlation& s, const T* x, T* to) {
  const Index in = s.cols.in;
  for (Index a = 0; a < p.row.phase; ++a)
    for (Index b = 0; b < p.col.phase; ++b, to += p.rows * p.pitch) {
      const Index rows = p.row.count(a, s.rows.in, p.rows), count = p.col.count(b, in, p.pitch);
      if (rows == 0 || count == 0) continue;
      const auto fill = p.col.phase == 1 ? fill_rows<1, T> : fill_rows<2, T>;
      fill(x + p.row.from(a) * in + p.col.from(b), p.row.phase * in, rows, count, p.pitch,
           to + p.row.first(a) * p.pitch + p.col.first(b));
    }
}
template <class T>
void correlate_small(const SmallPlane<T>& p, const Correlation& s, Index planes, const T* x,
                     const T* weights, const T* bias, T* y) {
  const std::vector<int> off = p.offsets(s);
  const Index taps = s.taps();
  parallel_for(s.n * planes, 1 + 100'000 / std::max<Index>(s.products(1), 1),
               [&](Index begin, Index end) {
                 // The last vectors may read behind the last row.
                 Scratch<T> packed(std::size_t(p.elements + p.pitch + kLanes<T>)),
                     sums(std::size_t(p.vectors * kLanes<T>));
                 packed.zero();  // the margins stay zero
                 for (Index i = begin; i < end; ++i) {
                   const Index plane = i % planes, image = i / planes;
                   fill(p, s, x + image * s.from.image + plane * s.from.channel, packed.data());
                   correlate_row(packed.data(), off.data(), taps, weights + plane * taps,
                                 bias ? bias[plane] : T(0), p.vectors, sums.data());
                   T* const to = y + image * s.to.image + plane * s.to.channel;
                   for (Index h = 0; h < s.rows.out; ++h)
                     std::memcpy(to + s.stored(h, 0), sums.data() + h * p.pitch,
                                 std::size_t(s.cols.out) * sizeof(T));
                 }
               });
}

constexpr Index kFewColumns = 12;  // fewer leave most of a vector of AVX-512 empty

// Where rows of results lie next to each other, and so do the taps' rows.
template <class T>
PlaneRows<T> rows_at_once(const Correlation& s) {
  const std::vector<Index>& y = s.rows.shift;
  const bool joined = !y.empty() && y.back() - y.front() == Index(y.size()) - 1;
  return joined && s.rows.step == 1 && s.cols.pitch == 1 && s.to.pixel == 1
             ? plane_rows<T>(Index(y.size()))
             : nullptr;
}

}  // namespace

template <class T>
void correlate_planes(const Correlation& s, Index planes, const T* x, const T* w, const T* bias,
                      T* y) {
  if (s.rows.out == 0 || s.cols.out == 0) return;
  const Index taps = s.taps() * s.c, kw = Index(s.cols.tap.size()) * s.c;
  std::vector<T> weights;
  for (Index i = 0; i < planes; ++i)
    for (Index h : s.rows.tap)
      for (Index v : s.cols.tap)
        for (Index c = 0; c < s.c; ++c) weights.push_back(w[((i * s.c + c) * s.kh + h) * s.kw + v]);
  const PlaneRows<T> several = rows_at_once<T>(s);
  if (const SmallPlane<T> small(s);
      !s.volume.planes && small.suits(s) && (!several || s.cols.out < kFewColumns))
    return correlate_small(small, s, planes, x, weights.data(), bias, y);
  const Columns columns(s);
  const std::vector<int> off = columns.offsets(s);
  std::vector<int> columns_off;  // of the taps of a row
  for (Index k = 0; several && k < kw; ++k)
    columns_off.push_back(off[k] - int(s.rows.shift.front() * columns.row));
  const Index vectors = (s.cols.out + kLanes<T> - 1) / kLanes<T>, step = s.cols.pitch;
  const bool in_place = step == 1 && s.cols.out == vectors * kLanes<T>;
  const Index bands = row_bands(s, 1, s.n * planes);
  const Index band_rows = (s.rows.out + bands - 1) / bands;
  const Index most = std::min(
      s.rows.in, band_rows * s.rows.step +
                     (s.rows.shift.empty() ? 0 : s.rows.shift.back() - s.rows.shift.front()) + 1);
  const Index grain = 1 + 100'000 / std::max<Index>(s.products(1) / bands, 1);
  parallel_for(s.n * planes * bands, grain, [&](Index begin, Index end) {
    Scratch<T> packed(std::max<Index>(most * columns.row, 1)), line(vectors * kLanes<T>);
    packed.zero();  // the margins stay zero
    for (Index i = begin; i < end; ++i) {
      const Index plane = i / bands % planes, image = i / bands / planes;
      const Index h0 = s.rows.out * (i % bands) / bands, h1 = s.rows.out * (i % bands + 1) / bands;
      const auto [r0, r1] = s.rows.reads(h0, h1);
      columns.pack(s, x + plane * s.from.channel, image, r0, r1, packed.data());
      T* const to = y + image * s.to.image + plane * s.to.channel;
      if (several) {
        const Index top = h0 + s.rows.shift.front();
        several({packed.data(), (top - r0) * columns.row, columns.row, -top, s.rows.in - top,
                 columns_off.data(), kw, weights.data() + plane * taps, bias ? bias[plane] : T(0),
                 h1 - h0, s.cols.out, to + s.stored(h0, 0), s.stored(1, 0) - s.stored(0, 0)});
        continue;
      }
      for (Index h = h0; h < h1; ++h) {
        const auto [t0, t1] = s.rows.inside(h);
        T* const out = to + s.stored(h, 0);
        correlate_row(packed.data() + (h * s.rows.step - r0) * columns.row, off.data() + t0 * kw,
                      (t1 - t0) * kw, weights.data() + plane * taps + t0 * kw,
                      bias ? bias[plane] : T(0), vectors, in_place ? out : line.data());
        if (in_place) continue;
        if (step == 1)
          std::memcpy(out, line.data(), std::size_t(s.cols.out) * sizeof(T));
        else
          for (Index q = 0; q < s.cols.out; ++q) out[q * step] = line[q];
      }
    }
  });
}

template void correlate_planes(const Correlation&, Index, const float*, const float*, const float*,
                               float*);
template void correlate_planes(const Correlation&, Index, const double*, const double*,
                               const double*, double*);

}  // namespace rushlight::conv
