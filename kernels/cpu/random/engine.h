// mt19937 in bulk, and how a stream of numbers is laid into a tensor. Note: a
// producer must give the same numbers however its calls are cut, except for cuts that it forbids.
#pragma once
#include <algorithm>

#include "kernels/cpu/interruptible.h"
#include "kernels/random.h"

namespace rushlight::random {

inline constexpr std::int64_t kChunk = 1024;  // numbers a producer makes at a time: fits in L1

void take_words(RandomState&, std::uint32_t* out, std::int64_t n);
std::uint32_t take_word(RandomState&);
inline std::uint64_t take_long(RandomState& s) {  // the first word is the upper half
  const std::uint64_t high = take_word(s);
  return high << 32 | take_word(s);
}
inline double take_unit(RandomState& s) {  // [0, 1), 53 bits
  return static_cast<double>(take_long(s) & ((1ull << 53) - 1)) * 0x1p-53;
}
double take_normal(RandomState&);  // standard normal by pairs; the second of a pair waits in s
void take_units(RandomState&, double* out, std::int64_t n);
void take_longs(RandomState&, std::uint64_t* out, std::int64_t n);

// The dimensions of a view in the order of a walk, innermost first, neighbours merged.
struct Walk {
  int rank = 0;
  std::int64_t sizes[kMaxRank], strides[kMaxRank], other[kMaxRank];
  // `with`: a second view of the same sizes that is walked along; its strides are `other`.
  explicit Walk(const View& v, const View* with = nullptr) {
    for (int d = v.rank - 1; d >= 0; --d) {
      if (v.sizes[d] == 1) continue;
      const std::int64_t stride = v.strides[d], second = with ? with->strides[d] : 0;
      int at = rank++;
      for (; at > 0 && strides[at - 1] > stride; --at) {
        sizes[at] = sizes[at - 1];
        strides[at] = strides[at - 1];
        other[at] = other[at - 1];
      }
      sizes[at] = v.sizes[d];
      strides[at] = stride;
      other[at] = second;
    }
    int kept = rank > 0;
    for (int d = 1; d < rank; ++d) {
      const int last = kept - 1;
      if (strides[d] == strides[last] * sizes[last] && other[d] == other[last] * sizes[last]) {
        sizes[last] *= sizes[d];
      } else {
        sizes[kept] = sizes[d];
        strides[kept] = strides[d];
        other[kept++] = other[d];
      }
    }
    rank = kept;
    if (!rank) {
      rank = 1;
      sizes[0] = strides[0] = 1;
      other[0] = 0;
    }
  }
  bool is_dense() const { return rank == 1 && strides[0] == 1; }

  // Calls run(offset, other_offset, n) for the innermost rows, in order.
  template <class F>
  void rows(F&& run) const {
    std::int64_t at[kMaxRank] = {}, offset = 0, second = 0;
    for (;;) {
      run(offset, second, sizes[0]);
      int d = 1;
      for (; d < rank; ++d) {
        offset += strides[d];
        second += other[d];
        if (++at[d] < sizes[d]) break;
        offset -= strides[d] * sizes[d];
        second -= other[d] * sizes[d];
        at[d] = 0;
      }
      if (d >= rank) return;
    }
  }
};

// produce(T* to, n) makes the next n numbers, at most kChunk of them.
template <class T, class Produce>
void fill(const View& out, Produce&& produce) {
  if (out.numel == 0) return;
  const Walk walk(out);
  T* const data = out.as<T>();
  Interruptible interruptible;
  if (walk.is_dense()) {
    for (std::int64_t i = 0; i < out.numel; i += kChunk) {
      produce(data + i, std::min(kChunk, out.numel - i));
      interruptible.done(kChunk * 4);
    }
    return;
  }
  T made[kChunk];
  walk.rows([&](std::int64_t offset, std::int64_t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kChunk) {
      const std::int64_t m = std::min(kChunk, n - i);
      produce(made, m);
      interruptible.done(m * 4);
      T* const row = data + offset + i * walk.strides[0];
      for (std::int64_t k = 0; k < m; ++k) row[k * walk.strides[0]] = made[k];
    }
  });
}

void normal(const View& out, double mean, double std, RandomState&);
void log_normal(const View& out, double mean, double std, RandomState&);
void permutation(const View& out, RandomState&);
void dropout(const View& out, const View& noise, const View& input, double keep, RandomState&);
void slopes(const View& noise, const View& input, double lower, double upper, RandomState&);
std::int64_t multinomial(const View& out, const View& p, RandomState&);
void drawn(Law, const View& out, const View& a, const View& b, RandomState&);

}  // namespace rushlight::random
