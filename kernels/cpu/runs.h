// Runs of elements, one stride on each side, as indexing and copying meet them in their innermost
// loops.
#pragma once
#include <algorithm>
#include <cstring>

#include "../index.h"
#include "gaps.h"

namespace rushlight {

template <class S>
CLONES void fill_run(S* to, std::int64_t n, S value) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}
template <class S>
CLONES void reverse_run(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
}

// In vectors, as gcc makes a memcpy of a plain loop.
inline CLONES void copy_vectors(char* to, const char* from, std::int64_t n) {
  using Vector __attribute__((vector_size(32), aligned(1), may_alias)) = std::uint64_t;
  constexpr std::int64_t kStep = 4 * sizeof(Vector);
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const Vector* const source = reinterpret_cast<const Vector*>(from + i);
    Vector* const target = reinterpret_cast<Vector*>(to + i);
    const Vector a = source[0], b = source[1], c = source[2], d = source[3];
    target[0] = a, target[1] = b, target[2] = c, target[3] = d;
  }
  std::memcpy(to + i, from + i, std::size_t(n - i));
}
// memcpy where that is quick. From 2 KB on it may be one instruction of the processor, which takes
// long to begin, and on AMD's Zen 3 and 4 thirty times as long where the output begins a few bytes
// behind the input, in pages of 4 KB: as the rows of a matrix that is rolled or padded do.
inline void copy_bytes(void* to, const void* from, std::int64_t n) {
  constexpr std::int64_t kOneInstruction = 2048, kQuick = 8192;
  const auto behind =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % 4096;
  if (n >= kOneInstruction && (n < kQuick || (behind > 0 && behind < 64)))
    return copy_vectors(static_cast<char*>(to), static_cast<const char*>(from), n);
  // Of a size whose bounds it knows gcc makes that instruction itself, instead of a call.
  auto size = std::size_t(n);
  asm("" : "+r"(size));
  std::memcpy(to, from, size);
}

// `count` copies of `size` bytes, one after another, of which the first is there: several at a
// time, as far as those stay in the nearest cache.
inline void repeat_bytes(char* first, std::int64_t size, std::int64_t count) {
  constexpr std::int64_t kNear = 8191;
  const std::int64_t most = std::max<std::int64_t>(1, kNear / size);
  for (std::int64_t made = 1, some; made < count; made += some) {
    some = std::min({made, count - made, most});
    copy_bytes(first + made * size, first, some * size);
  }
}

// A few bytes, sooner than a call begins to: in words, of which the last two may overlap.
template <class Word>
inline void copy_words(char* to, const char* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += sizeof(Word)) {
    const std::int64_t at = std::min<std::int64_t>(i, n - std::int64_t(sizeof(Word)));
    std::memcpy(to + at, from + at, sizeof(Word));
  }
}
inline void copy_few(char* to, const char* from, std::int64_t n) {
  struct Vector {
    char bytes[16];
  };
  if (n >= 16) return copy_words<Vector>(to, from, n);
  if (n >= 8) return copy_words<std::uint64_t>(to, from, n);
  if (n >= 4) return copy_words<std::uint32_t>(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

// S is an unsigned integer of the elements' size.
template <class S>
inline void copy_run(S* to, std::int64_t to_step, const S* from, std::int64_t from_step,
                     std::int64_t n) {
  constexpr std::int64_t kShort = 16;  // elements that a loop writes before a call begins to
  constexpr std::int64_t kFew = 48;  // bytes
  if (to_step == 1 && from_step == 1 && n > 1) {
    const std::int64_t bytes = n * std::int64_t(sizeof(S));
    if (bytes > kFew) return copy_bytes(to, from, bytes);
    return copy_few(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), bytes);
  }
  if (to_step == 1 && n > kShort) {
    if (from_step == 0) return fill_run(to, n, *from);
    if (from_step == -1) return reverse_run(to, from, n);
    return bring_together(to, from, sizeof(S), from_step, n);
  }
  for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

// Copies n elements and fetches those of `next` meanwhile: rows that lie anywhere in memory.
template <class S>
inline void copy_row(S* to, const S* from, const S* next, std::int64_t n) {
  constexpr std::int64_t kPiece = 4096 / sizeof(S), kLine = 64 / sizeof(S);
  if (next == from) return copy_bytes(to, from, n * std::int64_t(sizeof(S)));
  for (std::int64_t first = 0; first < n; first += kPiece) {
    const std::int64_t count = n - first < kPiece ? n - first : kPiece;
    for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(next + first + i);
    copy_bytes(to + first, from + first, count * std::int64_t(sizeof(S)));
  }
}

template <class S, ScatterMode mode>
CLONES void combine_dense(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) store(to + i, combined(load(to + i), load(from + i), mode));
}
template <class S>
inline void add_to(S* to, const S* from) {
  store(to, added(load(to), load(from)));
}
template <class S>
inline void combine_run(S* to, std::int64_t to_step, const S* from, std::int64_t from_step,
                        std::int64_t n, ScatterMode mode) {
  constexpr std::int64_t kShort = 16;  // elements that a loop adds before a call begins to
  if (mode == ScatterMode::add) {
    if (to_step == 1 && from_step == 1 && n > kShort)
      return combine_dense<S, ScatterMode::add>(to, from, n);
    for (std::int64_t i = 0; i < n; ++i) add_to(to + i * to_step, from + i * from_step);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i, to += to_step, from += from_step)
    store(to, combined(load(to), load(from), mode));
}

}  // namespace rushlight
