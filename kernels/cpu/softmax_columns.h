// The loops of softmax over neighbouring columns, side by side.
#pragma once
#include "kernels/cpu/interruptible.h"
#include "softmax_loops.h"

namespace rushlight::rows {

// n neighbouring columns side by side, `inner` elements from row to row. The input is read once,
// into `block`: its rows may lie so that no cache holds them all. `top` and `sum` have n elements.
template <class S, class T = Compute<S>>
CLONES_512 void softmax_columns(const S* __restrict x, Index dim, Index inner, Index n,
                                bool logarithm, T* __restrict block, T* __restrict top,
                                T* __restrict sum, S* __restrict y) {
  std::fill_n(top, n, -std::numeric_limits<T>::infinity());
  std::fill_n(sum, n, T(0));
  each_row(dim, [=](Index d) {
    for (Index c = 0; c < n; ++c) {
      const T v = load(x + d * inner + c);
      block[d * n + c] = v;
      top[c] = v > top[c] ? v : top[c];
    }
  });
  each_row(dim, [=](Index d) {
    T* __restrict row = block + d * n;
    if (logarithm)
      for (Index c = 0; c < n; ++c) row[c] -= top[c], sum[c] += negative_exp(row[c]);
    else
      for (Index c = 0; c < n; ++c) row[c] = negative_exp(row[c] - top[c]), sum[c] += row[c];
  });
  if (logarithm)
    for (Index c = 0; c < n; ++c) sum[c] = log(sum[c]);
  else
    for (Index c = 0; c < n; ++c) sum[c] = T(1) / sum[c];
  each_row(dim, [=](Index d) {
    const T* __restrict row = block + d * n;
    if (logarithm)
      for (Index c = 0; c < n; ++c) store(y + d * inner + c, row[c] - sum[c]);
    else
      for (Index c = 0; c < n; ++c) store(y + d * inner + c, row[c] * sum[c]);
  });
}

template <class S, class T = Compute<S>>
CLONES_512 void gradient_columns(const S* __restrict g, const S* __restrict y, Index dim,
                                 Index inner, Index n, bool logarithm, T* __restrict sum,
                                 S* __restrict out) {
  std::fill_n(sum, n, T(0));
  each_row(dim, [=](Index d) {
    if (logarithm)
      for (Index c = d * inner; c < d * inner + n; ++c) sum[c - d * inner] += load(g + c);
    else
      for (Index c = d * inner; c < d * inner + n; ++c)
        sum[c - d * inner] += load(g + c) * load(y + c);
  });
  each_row(dim, [=](Index d) {
    if (logarithm)
      for (Index c = d * inner; c < d * inner + n; ++c)
        store(out + c, load(g + c) - negative_exp(load(y + c)) * sum[c - d * inner]);
    else
      for (Index c = d * inner; c < d * inner + n; ++c)
        store(out + c, load(y + c) * (load(g + c) - sum[c - d * inner]));
  });
}

}  // namespace rushlight::rows
