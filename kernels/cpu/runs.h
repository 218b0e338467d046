// Runs of elements, one stride on each side, as indexing and copying meet them in their innermost
// loops.
#pragma once
#include <cstring>

#include "../index.h"

namespace rushlight {

template <class S>
CLONES void fill_run(S* to, std::int64_t n, S value) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}
template <class S>
CLONES void reverse_run(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
}

// S is an unsigned integer of the elements' size.
template <class S>
inline void copy_run(S* to, std::int64_t to_step, const S* from, std::int64_t from_step,
                     std::int64_t n) {
  constexpr std::int64_t kShort = 16;  // elements that a loop copies before a call begins to
  if (to_step == 1 && n > kShort) {
    if (from_step == 1) return void(std::memcpy(to, from, std::size_t(n) * sizeof(S)));
    if (from_step == 0) return fill_run(to, n, *from);
    if (from_step == -1) return reverse_run(to, from, n);
  }
  for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

// Copies n elements and fetches those of `next` meanwhile: rows that lie anywhere in memory.
template <class S>
inline void copy_row(S* to, const S* from, const S* next, std::int64_t n) {
  constexpr std::int64_t kPiece = 4096 / sizeof(S), kLine = 64 / sizeof(S);
  for (std::int64_t first = 0; first < n; first += kPiece) {
    const std::int64_t count = n - first < kPiece ? n - first : kPiece;
    for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(next + first + i);
    std::memcpy(to + first, from + first, std::size_t(count) * sizeof(S));
  }
}

template <class S, ScatterMode mode>
CLONES void combine_dense(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) store(to + i, combined(load(to + i), load(from + i), mode));
}
template <class S>
inline void combine_run(S* to, std::int64_t to_step, const S* from, std::int64_t from_step,
                        std::int64_t n, ScatterMode mode) {
  if (to_step == 1 && from_step == 1 && n > 1 && mode == ScatterMode::add)
    return combine_dense<S, ScatterMode::add>(to, from, n);
  for (std::int64_t i = 0; i < n; ++i, to += to_step, from += from_step)
    store(to, combined(load(to), load(from), mode));
}

}  // namespace rushlight
