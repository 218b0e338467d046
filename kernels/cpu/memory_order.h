// A view whose elements may be seen in any order.
#pragma once
#include <cstdlib>
#include <limits>
#include <utility>

#include "../view.h"

namespace rushlight {

// Its elements in an order that reads memory along, what repeats outermost; neighbours are merged.
inline View in_memory_order(View v) {
  const auto apart = [&](int d) {
    return v.strides[d] ? std::abs(v.strides[d]) : std::numeric_limits<std::int64_t>::max();
  };
  for (int d = 1; d < v.rank; ++d)
    for (int k = d; k > 0 && apart(k) > apart(k - 1); --k) {
      std::swap(v.sizes[k], v.sizes[k - 1]);
      std::swap(v.strides[k], v.strides[k - 1]);
    }
  int last = 0;
  for (int d = 1; d < v.rank; ++d) {
    if (v.strides[last] == v.strides[d] * v.sizes[d]) {
      v.sizes[last] *= v.sizes[d];
    } else {
      v.sizes[++last] = v.sizes[d];
    }
    v.strides[last] = v.strides[d];
  }
  v.rank = std::min(v.rank, last + 1);
  return v;
}

}  // namespace rushlight
