// A matrix by rows is zipped row by row, several panels at once, as memory lies in that order; one
// by columns is transposed in pairs.
#include "bfloat16_panels.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
using Pair = Bfloat16Pair;
using Source = StridedMatrix<const bfloat16>;

void pack_row(const Source& m, Index row, Index pairs, Pair* to) {
  const bfloat16* const from = m.data + row * m.row_stride;
  const Index whole = m.cols / 2;
  if (m.col_stride == 1)
    std::memcpy(to, from, std::size_t(whole) * sizeof(Pair));
  else
    for (Index p = 0; p < whole; ++p)
      to[p] = from[2 * p * m.col_stride].bits | Pair(from[(2 * p + 1) * m.col_stride].bits) << 16;
  std::fill(to + whole, to + pairs, Pair(0));
  if (m.cols % 2) to[whole] = from[(m.cols - 1) * m.col_stride].bits;
}

// Two rows, `step` apart from element to element, as n pairs; the second may be null.
CLONES_512 void zip(const bfloat16* first, const bfloat16* second, Index step, Index n, Pair* to) {
  if (!second)
    for (Index c = 0; c < n; ++c) to[c] = first[c * step].bits;
  else if (step == 1 && n == kPairColumns)
    for (Index c = 0; c < kPairColumns; ++c) to[c] = first[c].bits | Pair(second[c].bits) << 16;
  else
    for (Index c = 0; c < n; ++c) to[c] = first[c * step].bits | Pair(second[c * step].bits) << 16;
}
// Rows two by two, `ld` apart, `used` columns of them: [panel][pair][32].
void zip_rows(const bfloat16* rows, Index step, Index used, Index ld, Index k, Index pairs,
              Pair* to) {
  for (Index p = 0; 2 * p < k; ++p, rows += 2 * ld) {
    const bfloat16* const second = 2 * p + 1 < k ? rows + ld : nullptr;
    for (Index c = 0; c < used; c += kPairColumns)
      zip(rows + c * step, second ? second + c * step : nullptr, step,
          std::min(kPairColumns, used - c), to + c * pairs + p * kPairColumns);
  }
}

}  // namespace

void pack_pairs(const Source& m, Index first, Index last, Index pairs, Pair* to) {
  if (m.row_stride != 1 || m.col_stride == 1) {
    for (Index i = first; i < last; ++i, to += pairs) pack_row(m, i, pairs, to);
    return;
  }
  Scratch<Pair> zipped(std::size_t(pairs * kPairColumns));
  const Index used = (m.cols + 1) / 2;
  std::fill_n(zipped.data() + used * kPairColumns, (pairs - used) * kPairColumns, Pair(0));
  for (Index i = first; i < last; i += kPairColumns, to += kPairColumns * pairs) {
    const Index rows = std::min(kPairColumns, last - i);
    zip_rows(m.data + i, 1, rows, m.col_stride, m.cols, pairs, zipped.data());
    transpose(zipped.data(), kPairColumns, pairs, rows, to, pairs);
  }
}

void pack_panels(const Source& m, Index first, Index last, Index pairs, Pair* to) {
  constexpr Index kGroup = 8;  // panels whose rows are read together
  const Index used = (m.cols + 1) / 2;
  const bool zips = m.row_stride == 1 || m.row_stride < m.col_stride;
  for (Index g = first; g < last; g += zips ? kGroup : 1) {
    Pair* const panel = to + (g - first) * pairs * kPairColumns;
    const Index end = std::min(last, g + (zips ? kGroup : 1)), row = g * kPairColumns;
    const Index rows = std::min(end * kPairColumns, m.rows) - row;
    const bfloat16* const from = m.data + row * m.row_stride;
    for (Index i = g; i < end; ++i) {
      Pair* const one = panel + (i - g) * pairs * kPairColumns;
      if ((i + 1) * kPairColumns > m.rows)
        std::fill_n(one, pairs * kPairColumns, Pair(0));
      else
        std::fill(one + used * kPairColumns, one + pairs * kPairColumns, Pair(0));
    }
    if (zips) {
      zip_rows(from, m.row_stride, rows, m.col_stride, m.cols, pairs, panel);
      continue;
    }
    Scratch<Pair> lines(std::size_t(rows * used));
    for (Index r = 0; r < rows; ++r) pack_row(m, row + r, used, lines.data() + r * used);
    transpose(lines.data(), used, rows, used, panel, kPairColumns);
  }
}

}  // namespace rushlight
