// One head of attention: its operands, the products with them, its mask and its dropout.
#pragma once
#include <optional>
#include <type_traits>
#include <vector>

#include "../attention.h"
#include "../parallel.h"
#include "attention_bfloat16.h"
#include "attention_loops.h"
#include "kernels/cpu/random/engine.h"
#include "linalg/gemm.h"
#include "linalg/rounded_gemm.h"
#include "scratch.h"

namespace rushlight::attention {

inline constexpr Index kQueries = 128, kKeys = 256;             // of a block
inline constexpr Index kPackedQueries = 64, kPackedKeys = 512;  // the same of a Bfloat16Head
inline constexpr Index kDrawn = 1 << 22;                        // bytes of noise at a time

template <class T>
Matrix<T> matrix_at(const View& v, Index batch, Index head) {
  std::remove_const_t<T>* data =
      v.as<std::remove_const_t<T>>() + batch * v.strides[0] + head * v.strides[1];
  return {data, v.sizes[2] == 1 ? std::max<Index>(v.sizes[3], 1) : v.strides[2]};
}
template <class T>
Matrix<const T> transposed(Matrix<T> m) {
  return {m.data, m.ld, true};
}

// gemm for any depth: BLAS may leave a NaN of `out` where beta is 0 and there is nothing to add.
template <class T>
void product(Index m, Index n, Index k, T alpha, Matrix<const T> left, Matrix<const T> right,
             T beta, Matrix<T> out) {
  if (m == 0 || n == 0) return;
  if (k > 0 && alpha != T(0)) return gemm<T>(m, n, k, alpha, left, right, beta, out);
  if (beta == T(0))
    for (Index i = 0; i < m; ++i) std::fill_n(out.data + i * out.ld, n, T(0));
}

// Dropout of one head: what was drawn for its next block of queries, one byte a weight.
class Noise {
 public:
  Noise(const AttentionShape& s, const RandomState* start, Index queries)
      : s_(s), bytes_(start ? std::size_t(queries * s.s) : 0) {
    if (!start) return;
    state_ = *start;
    limit_ = std::uint64_t(std::ceil(s.keep * 0x1p53));
  }
  void draw(Index queries) {
    if (!any()) return;
    std::uint64_t longs[random::kChunk];
    for (Index i = 0, n = queries * s_.s; i < n; i += random::kChunk) {
      const Index m = std::min(random::kChunk, n - i);
      random::take_longs(*state_, longs, m);
      for (Index k = 0; k < m; ++k)
        bytes_[std::size_t(i + k)] = (longs[k] & ((1ull << 53) - 1)) < limit_;
    }
  }
  bool any() const { return state_.has_value(); }
  // y = x * noise; `row` counts from the first query that was drawn for.
  template <class T>
  void apply(Index row, Index key, const T* x, Index n, T* y) const {
    drop(x, n, bytes_.data() + row * s_.s + key, s_.keep > 0 ? T(1 / s_.keep) : T(0), y);
  }

 private:
  const AttentionShape& s_;
  std::optional<RandomState> state_;
  std::uint64_t limit_ = 0;
  Scratch<std::uint8_t> bytes_;
};

// The state of the stream where each head's draws begin.
inline std::vector<RandomState> states_of(const AttentionShape& s, RandomState* random) {
  std::vector<RandomState> states;
  if (!random) return states;
  std::uint64_t longs[random::kChunk];
  for (Index head = 0; head < s.batch * s.heads; ++head) {
    states.push_back(*random);
    for (Index i = 0, n = s.l * s.s; i < n; i += random::kChunk) {
      random::take_longs(*random, longs, std::min(random::kChunk, n - i));
      if (i % (kDrawn / 4) == 0) check_interrupt();
    }
  }
  return states;
}
inline Index queries_of(const AttentionShape& s) {
  return s.keep == 1 ? kQueries : std::clamp<Index>(kDrawn / std::max<Index>(s.s, 1), 1, kQueries);
}

template <class M, class H>
M* mask_at(const View& mask, const H& h, Index query, Index key) {
  const Index at[] = {h.batch, h.head, query, key};
  M* p = static_cast<M*>(mask.data);
  for (int d = 0; d < 4; ++d) p += at[d] * mask.strides[d];
  return p;
}

// One head of q with what it attends to.
template <class T>
struct Head {
  const AttentionShape& s;
  const AttentionOperands& o;
  Index batch, head;
  const Bfloat16Head* packed;  // of k and v, where the operands are bfloat16; else null
  Matrix<const T> q, k, v;     // else

  Head(const AttentionShape& shape, const AttentionOperands& operands, Index b, Index h,
       const Bfloat16Head* p = nullptr)
      : s(shape), o(operands), batch(b), head(h), packed(p) {
    if (packed) return;
    const Index shared = h / (s.heads / s.kv_heads);
    q = matrix_at<const T>(o.q, b, h);
    k = matrix_at<const T>(o.k, b, shared);
    v = matrix_at<const T>(o.v, b, shared);
  }
  Index keys() const { return packed ? kPackedKeys : kKeys; }  // of a block
  Index lse_at() const { return (batch * s.heads + head) * s.l; }
  // Keys that the queries up to `last` attend to at all, and one query among `keys` from `key` on.
  Index reach(Index last) const { return s.causal ? std::min(s.s, last + 1) : s.s; }
  Index allowed(Index query, Index key, Index keys) const {
    return s.causal ? std::clamp<Index>(query + 1 - key, 0, keys) : keys;
  }
  // scale * q k^T of a block, `keys` elements a row.
  void logits(Index query, Index queries, Index key, Index keys, T* to) const {
    if constexpr (std::is_same_v<T, float>) {
      if (packed)
        return packed->logits(matrix_at<const bfloat16>(o.q, batch, head).block(query, 0), queries,
                              key, keys, to);
      if (s.rounded && rounded_gemm(queries, keys, s.e, T(s.scale), q.block(query, 0),
                                    transposed(k).block(0, key), T(0), {to, keys}))
        return;
    }
    product<T>(queries, keys, s.e, T(s.scale), q.block(query, 0), transposed(k).block(0, key), T(0),
               {to, keys});
  }
  // out = weights v of those keys, or adds it.
  void average(const T* weights, Index queries, Index key, Index keys, bool adds,
               Matrix<T> out) const {
    if constexpr (std::is_same_v<T, float>)
      if (packed) return packed->average(weights, queries, key, keys, adds, out);
    product<T>(queries, s.v, keys, T(1), {weights, keys}, v.block(key, 0), T(adds), out);
  }
  void mask(Index query, Index key, T* x, Index n) const {
    if (!o.mask) return;
    const Index step = o.mask->strides[3];
    if (o.mask->dtype == DType::boolean)
      apply_mask(x, n, mask_at<const std::uint8_t>(*o.mask, *this, query, key), step);
    else
      add_mask(x, n, mask_at<const T>(*o.mask, *this, query, key), step);
  }
};

}  // namespace rushlight::attention
