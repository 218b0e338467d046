// Channels of rows are zipped two by two; where they lie innermost, their pairs are transposed.
#include "bfloat16_band.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/transpose.h"
#include "kernels/host_device.h"

namespace rushlight::conv {
namespace {

CLONES void zip(const bfloat16* first, const bfloat16* second, Index step, Index n, Pair* to) {
  if (step == 1)
    for (Index i = 0; i < n; ++i)
      to[i] = first[i].bits | (second ? Pair(second[i].bits) << 16 : Pair(0));
  else if (step == 2 && second && n > 1) {
    for (Index i = 0; i + 1 < n; ++i) {  // two elements at once, of which the first counts
      Pair low, high;
      std::memcpy(&low, first + 2 * i, sizeof low);
      std::memcpy(&high, second + 2 * i, sizeof high);
      to[i] = (low & 0xffff) | high << 16;
    }
    to[n - 1] = first[2 * n - 2].bits | Pair(second[2 * n - 2].bits) << 16;
  } else
    for (Index i = 0; i < n; ++i)
      to[i] = first[i * step].bits | (second ? Pair(second[i * step].bits) << 16 : Pair(0));
}

}  // namespace

std::vector<Block> blocks_of(Index out, bool is_tiled) {
  std::vector<Block> blocks;
  const Index parts = (out + kHeight - 1) / kHeight;
  for (Index first = 0; is_tiled && first < out; first += kTiledHeight) {
    const Index height = std::min(kTiledHeight, out - first);
    blocks.push_back({first, height, height > amx::kTile ? kTiledHeight : amx::kTile});
  }
  for (Index part = 0, first = 0; !is_tiled && part < parts; ++part) {
    const Index height = (out - first + parts - part - 1) / (parts - part);
    blocks.push_back({first, height, height});
    first += height;
  }
  return blocks;
}

void pack_weights(const Correlation& s, const Depth& depth, const std::vector<Block>& blocks,
                  const bfloat16* w, Pair* to) {
  const Index kernel = s.kh * s.kw;
  Scratch<bfloat16> channels(std::size_t(2 * kernel * depth.pairs()));  // [tap][channel]
  std::memset(channels.data(), 0, channels.size() * sizeof(bfloat16));
  for (const Block& block : blocks)
    for (Index r = 0; r < block.rows; ++r) {
      if (r < block.height)
        transpose(w + (block.first + r) * s.w_out, s.w_in, s.c, kernel, channels.data(),
                  2 * depth.pairs());
      Pair* lot = to + block.first * s.taps() * depth.pairs() + r * depth.each;
      for (Index kh : s.rows.tap)
        for (Index kw : s.cols.tap)
          for (Index i = 0; i < depth.lots; ++i, lot += block.rows * depth.each)
            std::memcpy(lot, &channels[2 * ((kh * s.kw + kw) * depth.pairs() + i * depth.each)],
                        std::size_t(depth.each) * sizeof(Pair));
    }
}

void Band::pack(const bfloat16* x, Pair* to) const {
  const bool inside = s.from.channel == 1;
  Scratch<Pair> pixels(std::size_t(inside ? cols.in * pairs() : 0));
  for (Index i = 0; i < pairs() * phases; ++i)
    std::fill_n(to + i * plane + rows.size * width, kPixels, Pair(0));
  for (Index i = 0; i < rows.size * rows.step; ++i) {
    const Index f = i % rows.step, h = i + rows.base;
    const bool is_row = h >= 0 && h < rows.in;
    const bfloat16* const row = is_row ? x + h * cols.in * s.from.pixel : nullptr;
    if (is_row && inside) bring_together(row, pixels.data());
    for (Index k = 0; k < cols.step; ++k) {
      Pair* const line = to + (f * cols.step + k) * plane + i / rows.step * width;
      const auto [first, end] = is_row ? cols.inside(k) : std::pair<Index, Index>(0, 0);
      for (Index p = 0; p < pairs(); ++p) {
        std::fill_n(line + p * phases * plane, first, Pair(0));
        std::fill_n(line + p * phases * plane + end, width - end, Pair(0));
      }
      const Index column = first * cols.step + k + cols.base, n = end - first;
      if (n > 0 && inside)
        transpose(pixels.data() + column * pairs(), cols.step * pairs(), n, pairs(), line + first,
                  phases * plane);
      for (Index c = 0; n > 0 && !inside && c < 2 * pairs(); c += 2) {
        const bfloat16* const from = row + c * s.from.channel + column;
        if (c >= s.c)
          std::fill_n(line + c / 2 * phases * plane + first, n, Pair(0));
        else
          zip(from, c + 1 < s.c ? from + s.from.channel : nullptr, cols.step, n,
              line + c / 2 * phases * plane + first);
      }
    }
  }
}
void Band::bring_together(const bfloat16* row, Pair* pixels) const {
  for (Index i = 0; i < cols.in; ++i, pixels += pairs()) {
    std::fill(pixels + s.c / 2, pixels + pairs(), Pair(0));
    std::memcpy(pixels, row + i * s.from.pixel, std::size_t(s.c) * sizeof(bfloat16));
  }
}

std::vector<int> Band::offsets() const {
  std::vector<int> all;
  for (Index v : s.rows.shift)
    for (Index h : s.cols.shift) {
      const Index r = v - s.rows.shift.front(), q = h - s.cols.shift.front();
      const Index phase = r % rows.step * cols.step + q % cols.step;
      for (Index p = 0; p < pairs(); p += depth.each)
        all.push_back(int((p * phases + phase) * plane + r / rows.step * width + q / cols.step));
    }
  return all;
}
int Band::runs(Index q, Run* to) const {
  int count = 0;
  for (Index at = q; at < q + kPixels;) {
    const Index row = at / width, column = at % width;
    const Index end = std::min(at + width - column, q + kPixels);
    if (row >= r1 - r0) break;
    if (column < s.cols.out)
      to[count++] = {at - q, s.stored(r0 + row, column), std::min(s.cols.out - column, end - at)};
    at = end;
  }
  return count;
}

}  // namespace rushlight::conv
