// Lines of a few elements, as experts are chosen among or neighbours have a median: several are put
// in order side by side, a lane of the vectors for each.
#pragma once
#include <algorithm>

#include "kernels/cpu/lines.h"
#include "order.h"

namespace rushlight {

inline constexpr Index kShortLine = 16;  // elements
inline constexpr int kTogether = 16;  // lines

// The stable ascending order of each of `lines` lines of n keys, one line behind the other.
template <class Key>
void short_orders(const Key* keys, int lines, Index n, std::uint8_t* orders);

// Calls f(offsets, keys, order) for each line.
template <class Key, int N, class F>
void each_short_line(const Lines<N>& lines, const View& in, bool descending, F&& f) {
  const Index n = lines.length, step = lines.step[0];
  const auto item = Index(item_size(in.dtype));
  const auto read = [&](Index from, Index by, Index count, Key* to) {
    read_keys(in.dtype, in.as<const char>() + from * item, by, count, descending, to);
  };
  const LineStarts<N> starts(lines);
  parallel_for(lines.starts.numel, (1 << 14) / kShortLine, [&](Index first, Index end) {
    for (; first < end; first += kTogether) {
      const int count = int(std::min<Index>(kTogether, end - first));
      Index at[kTogether][N];
      Key keys[kTogether * kShortLine];
      std::uint8_t orders[kTogether * kShortLine];
      for (int k = 0; k < count; ++k) starts.at(first + k, at[k]);
      bool is_dense = step == 1 || n == 1;
      for (int k = 1; k < count; ++k) is_dense &= at[k][0] == at[0][0] + k * n;
      if (is_dense)
        read(at[0][0], 1, count * n, keys);
      else
        for (int k = 0; k < count; ++k) read(at[k][0], step, n, keys + k * n);
      short_orders(keys, count, n, orders);
      for (int k = 0; k < count; ++k) f(at[k], keys + k * n, orders + k * n);
    }
  });
}

}  // namespace rushlight
