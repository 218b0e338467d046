// The order in which a copy on the CPU goes through its elements: dimensions sorted by the output's
// strides, and merged where both sides allow it.
#pragma once
#include <algorithm>

#include "../parallel.h"
#include "../view.h"

namespace rushlight {

struct CopyPlan {
  int rank = 0;
  std::int64_t sizes[kMaxRank] = {}, out[kMaxRank] = {}, in[kMaxRank] = {};  // innermost is 0
};

inline std::int64_t magnitude(std::int64_t v) { return v < 0 ? -v : v; }

inline CopyPlan plan_of(const View& out, const View& in) {
  CopyPlan p;
  int order[kMaxRank], n = 0;
  for (int d = out.rank - 1; d >= 0; --d) {  // insertion: std::stable_sort would allocate
    if (out.sizes[d] == 1) continue;
    int at = n++;
    for (; at > 0 && magnitude(out.strides[order[at - 1]]) > magnitude(out.strides[d]); --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  for (int k = 0; k < n; ++k) {
    const int d = order[k], last = p.rank - 1;
    if (last >= 0 && out.strides[d] == p.out[last] * p.sizes[last] &&
        in.strides[d] == p.in[last] * p.sizes[last]) {
      p.sizes[last] *= out.sizes[d];
      continue;
    }
    p.sizes[p.rank] = out.sizes[d];
    p.out[p.rank] = out.strides[d];
    p.in[p.rank++] = in.strides[d];
  }
  if (p.rank == 0) p.rank = 1, p.sizes[0] = 1, p.out[0] = p.in[0] = 1;
  return p;
}

// Calls f(out offset, in offset, n) for each innermost run; the work is cut into pieces of rows, or
// of long ones.
template <class F>
void for_each_row(const CopyPlan& p, const F& f) {
  constexpr std::int64_t kGrain = 1 << 15;
  const std::int64_t n = p.sizes[0], grain = n < kGrain ? kGrain / n * n : kGrain;
  std::int64_t rows = 1;
  for (int d = 1; d < p.rank; ++d) rows *= p.sizes[d];
  parallel_for(rows * n, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t index[kMaxRank] = {}, o = 0, i = 0, rest = begin / n, first = begin % n;
    for (int d = 1; d < p.rank; ++d) {
      index[d] = rest % p.sizes[d];
      rest /= p.sizes[d];
      o += index[d] * p.out[d];
      i += index[d] * p.in[d];
    }
    const auto next_row = [&] {
      for (int d = 1; d < p.rank; ++d) {
        o += p.out[d], i += p.in[d];
        if (++index[d] < p.sizes[d]) break;
        o -= index[d] * p.out[d], i -= index[d] * p.in[d];
        index[d] = 0;
      }
    };
    if (n < kGrain) {
      for (; begin < end; begin += n, next_row()) f(o, i, n);
    } else {
      for (; begin < end; first = 0, next_row()) {
        const std::int64_t count = std::min(n - first, end - begin);
        f(o + first * p.out[0], i + first * p.in[0], count);
        begin += count;
      }
    }
  });
}

// Where either side has a type that is only stored.
void cast_stored(const CopyPlan& p, const View& out, const View& in);

}  // namespace rushlight
