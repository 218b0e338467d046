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

// Rows two by two, `ld` apart, `used` columns of them: [panel][pair][32].
CLONES_512 void zip_rows(const bfloat16* rows, Index step, Index used, Index ld, Index k,
                         Index pairs, Pair* to) {
  for (; k > 0; k -= 2, rows += 2 * ld, to += kPairColumns) {
    const bfloat16* const next = rows + ld;
    Index c = 0;
    for (; step == 1 && k > 1 && c + kPairColumns <= used; c += kPairColumns)
      for (Index i = 0; i < kPairColumns; ++i)
        to[c * pairs + i] = rows[c + i].bits | Pair(next[c + i].bits) << 16;
    for (; c < used; ++c)
      to[c / kPairColumns * kPairColumns * pairs + c % kPairColumns] =
          rows[c * step].bits | (k > 1 ? Pair(next[c * step].bits) << 16 : Pair(0));
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
    if (m.col_stride == 1 && m.cols % 2 == 0 && m.row_stride % 2 == 0 &&
        reinterpret_cast<std::uintptr_t>(from) % sizeof(Pair) == 0) {  // pairs as they are
      transpose(reinterpret_cast<const Pair*>(from), m.row_stride / 2, rows, used, panel,
                kPairColumns);
      continue;
    }
    Scratch<Pair> lines(std::size_t(rows * used));
    for (Index r = 0; r < rows; ++r) pack_row(m, row + r, used, lines.data() + r * used);
    transpose(lines.data(), used, rows, used, panel, kPairColumns);
  }
}

}  // namespace rushlight
