// Attention on blocks of queries times blocks of keys, which the second cache holds: products by
// gemm, a running maximum and sum for each query. Backward computes the weights of a block again
// from the log-sum-exp. Tasks are blocks of queries in forward; heads of k and v in backward, whose
// gradients they add up, and with dropout, where the draws of a head follow one another.
#include "../attention.h"

#include <optional>
#include <type_traits>
#include <vector>

#include "../parallel.h"
#include "attention_loops.h"
#include "kernels/cpu/random/engine.h"
#include "linalg/gemm.h"
#include "linalg/rounded_gemm.h"
#include "linalg/strided_matrix.h"
#include "scratch.h"

namespace rushlight {
namespace {

using namespace attention;

constexpr Index kQueries = 128, kKeys = 256;
constexpr Index kDrawn = 1 << 22;  // bytes of noise at a time

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
std::vector<RandomState> states_of(const AttentionShape& s, RandomState* random) {
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
Index queries_of(const AttentionShape& s) {
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
  Matrix<const T> q, k, v;

  Head(const AttentionShape& shape, const AttentionOperands& operands, Index b, Index h)
      : s(shape), o(operands), batch(b), head(h) {
    const Index shared = h / (s.heads / s.kv_heads);
    q = matrix_at<const T>(o.q, b, h);
    k = matrix_at<const T>(o.k, b, shared);
    v = matrix_at<const T>(o.v, b, shared);
  }
  Index lse_at() const { return (batch * s.heads + head) * s.l; }
  // Keys that the queries up to `last` attend to at all, and one query among `keys` from `key` on.
  Index reach(Index last) const { return s.causal ? std::min(s.s, last + 1) : s.s; }
  Index allowed(Index query, Index key, Index keys) const {
    return s.causal ? std::clamp<Index>(query + 1 - key, 0, keys) : keys;
  }
  // scale * q k^T of a block, `keys` elements a row.
  void logits(Index query, Index queries, Index key, Index keys, T* to) const {
    multiply_rounded(queries, keys, s.e, T(s.scale), q.block(query, 0), transposed(k).block(0, key),
                     T(0), {to, keys});
  }
  // As product; of numbers that may be rounded to bfloat16.
  void multiply_rounded(Index m, Index n, Index k, T alpha, Matrix<const T> left,
                        Matrix<const T> right, T beta, Matrix<T> out) const {
    if constexpr (std::is_same_v<T, float>)
      if (s.rounded && rounded_gemm(m, n, k, alpha, left, right, beta, out)) return;
    product<T>(m, n, k, alpha, left, right, beta, out);
  }
  void mask(Index query, Index key, T* x, Index n) const {
    if (!o.mask) return;
    const Index step = o.mask->strides[3];
    if (o.mask->dtype == DType::boolean)
      add_mask(x, n, mask_at<const bool>(*o.mask, *this, query, key), step);
    else
      add_mask(x, n, mask_at<const T>(*o.mask, *this, query, key), step);
  }
};

template <class T>
void attend(const Head<T>& h, Index first, Index queries, Noise& noise, T* block) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  const Index reach = h.reach(first + queries - 1);
  const Matrix<T> out = matrix_at<T>(h.o.out, h.batch, h.head).block(first, 0);
  T top[kQueries], sum[kQueries];
  std::fill_n(top, queries, never);
  std::fill_n(sum, queries, T(0));
  noise.draw(queries);
  for (Index key = 0; key < reach; key += kKeys) {
    const Index keys = std::min(kKeys, reach - key);
    check_interrupt();
    h.logits(first, queries, key, keys, block);
    for (Index r = 0; r < queries; ++r) {
      T* x = block + r * keys;
      const Index n = h.allowed(first + r, key, keys);
      h.mask(first + r, key, x, n);
      const T before = top[r];
      top[r] = std::max(before, rows::largest(x, n));
      const T base = top[r] == never ? T(0) : top[r];
      const T factor = rows::negative_exp(before - base);
      sum[r] = sum[r] * factor + exponentials(x, n, base);
      std::fill(x + n, x + keys, T(0));
      if (key > 0 && factor != T(1)) multiply(out.data + r * out.ld, h.s.v, factor);
      if (noise.any()) noise.apply(r, key, x, n, x);
    }
    h.multiply_rounded(queries, h.s.v, keys, T(1), {block, keys}, h.v.block(key, 0), T(key > 0),
                       out);
  }
  T* lse = h.o.lse.template as<T>() + h.lse_at() + first;
  for (Index r = 0; r < queries; ++r) {
    T* y = out.data + r * out.ld;
    if (sum[r] == T(0))
      std::fill_n(y, h.s.v, T(0));
    else
      multiply(y, h.s.v, T(1) / sum[r]);
    lse[r] = sum[r] == T(0) ? -never : top[r] + std::log(sum[r]);
  }
}

template <class T>
void forward(const AttentionShape& s, const AttentionOperands& o, RandomState* random) {
  const std::vector<RandomState> states = states_of(s, random);
  const Index rows = queries_of(s), blocks = (s.l + rows - 1) / rows;
  const Index tasks = s.batch * s.heads * (states.empty() ? blocks : 1);
  const Index work = std::min(s.l, states.empty() ? rows : s.l) * s.s * (s.e + s.v + 8);
  parallel_for(tasks, 1 + kWorthwhile / std::max<Index>(work, 1), [&](Index begin, Index end) {
    Scratch<T> block(std::size_t(kQueries * std::min(kKeys, std::max<Index>(s.s, 1))));
    for (Index task = begin; task < end; ++task) {
      const Index at = states.empty() ? task / blocks : task;
      const Head<T> head(s, o, at / s.heads, at % s.heads);
      Noise noise(s, states.empty() ? nullptr : &states[std::size_t(at)], rows);
      const Index first = states.empty() ? task % blocks * rows : 0;
      const Index last = states.empty() ? std::min(s.l, first + rows) : s.l;
      for (Index i = first; i < last; i += rows)
        attend(head, i, std::min(rows, last - i), noise, block.data());
    }
  });
}

// What backward adds to for one head; data is null where a gradient is not wanted.
template <class T>
struct Sums {
  Matrix<T> q, k, v;
  const View* mask;
};

// `weights` and `grads` hold a block each.
template <class T>
void attend_backward(const Head<T>& h, Matrix<const T> grad, const Sums<T>& to, Index first,
                     Index queries, Noise& noise, T* weights, T* grads) {
  const AttentionShape& s = h.s;
  const Index reach = h.reach(first + queries - 1);
  const bool needs_logits = to.q.data || to.k.data || to.mask;
  const T* lse = h.o.lse.template as<T>() + h.lse_at() + first;
  const Matrix<const T> out = matrix_at<const T>(h.o.out, h.batch, h.head).block(first, 0);
  const Matrix<const T> g = grad.block(first, 0);
  T delta[kQueries];
  for (Index r = 0; r < queries; ++r)
    delta[r] = rows::sum_grad(g.data + r * g.ld, out.data + r * out.ld, s.v);
  noise.draw(queries);
  for (Index key = 0; key < reach; key += kKeys) {
    const Index keys = std::min(kKeys, reach - key);
    check_interrupt();
    h.logits(first, queries, key, keys, weights);
    for (Index r = 0; r < queries; ++r) {
      T* x = weights + r * keys;
      const Index n = h.allowed(first + r, key, keys);
      h.mask(first + r, key, x, n);
      exponentials(x, n, lse[r]);
      std::fill(x + n, x + keys, T(0));
      if (noise.any()) noise.apply(r, key, x, keys, grads + r * keys);
    }
    if (to.v.data) {
      const Matrix<const T> dropped = {noise.any() ? grads : weights, keys, true};
      product<T>(keys, s.v, queries, T(1), dropped, g, T(1), to.v.block(key, 0));
    }
    if (!needs_logits) continue;
    product<T>(queries, keys, s.v, T(1), g, transposed(h.v).block(0, key), T(0), {grads, keys});
    for (Index r = 0; r < queries; ++r) {
      T* d = grads + r * keys;
      if (noise.any()) noise.apply(r, key, d, keys, d);
      score_gradients(weights + r * keys, keys, delta[r], d);
      if (to.mask) add_to(d, keys, mask_at<T>(*to.mask, h, first + r, key), to.mask->strides[3]);
    }
    if (to.q.data)
      product<T>(queries, s.e, keys, T(s.scale), {grads, keys}, h.k.block(key, 0), T(key > 0),
                 to.q.block(first, 0));
    if (to.k.data)
      product<T>(keys, s.e, queries, T(s.scale), {grads, keys, true}, h.q.block(first, 0), T(1),
                 to.k.block(key, 0));
  }
}

template <class T>
Matrix<T> sums_at(const View* v, Index batch, Index head) {
  return v ? matrix_at<T>(*v, batch, head) : Matrix<T>{};
}
template <class T>
void clear(Matrix<T> m, Index rows, Index columns) {
  for (Index i = 0; m.data && i < rows; ++i) std::fill_n(m.data + i * m.ld, columns, T(0));
}

template <class T>
void backward(const AttentionShape& s, const AttentionOperands& o, const View& grad,
              const AttentionGradients& to, RandomState* random) {
  const std::vector<RandomState> states = states_of(s, random);
  const Index rows = queries_of(s), group = s.heads / s.kv_heads;
  const auto one = [&](Index batch, Index shared, T* weights, T* grads) {
    Sums<T> sums = {{}, sums_at<T>(to.k, batch, shared), sums_at<T>(to.v, batch, shared), to.mask};
    clear(sums.k, s.s, s.e);
    clear(sums.v, s.s, s.v);
    for (Index h = shared * group; h < (shared + 1) * group; ++h) {
      const Head<T> head(s, o, batch, h);
      Noise noise(s, states.empty() ? nullptr : &states[std::size_t(batch * s.heads + h)], rows);
      sums.q = sums_at<T>(to.q, batch, h);
      if (s.s == 0) clear(sums.q, s.l, s.e);
      for (Index i = 0; i < s.l; i += rows)
        attend_backward(head, matrix_at<const T>(grad, batch, h), sums, i, std::min(rows, s.l - i),
                        noise, weights, grads);
    }
  };
  // A mask that several heads share gets its gradient from one task.
  const bool shares_batches = to.mask && to.mask->strides[0] == 0;
  const bool shares_heads = to.mask && to.mask->strides[1] == 0;
  const Index batches = shares_batches ? 1 : s.batch, heads = shares_heads ? 1 : s.kv_heads;
  const Index work = std::max<Index>(s.l * s.s * (s.e + s.v), 1);
  parallel_for(batches * heads, 1 + kWorthwhile / 2 / work, [&](Index begin, Index end) {
    const std::size_t size = std::size_t(kQueries * std::min(kKeys, std::max<Index>(s.s, 1)));
    Scratch<T> blocks(2 * size);
    for (Index task = begin; task < end; ++task)
      for (Index b = 0; b < (shares_batches ? s.batch : 1); ++b)
        for (Index h = 0; h < (shares_heads ? s.kv_heads : 1); ++h)
          one(task / heads + b, task % heads + h, blocks.data(), blocks.data() + size);
  });
}

void attention_forward(const AttentionShape& s, const AttentionOperands& o, RandomState* random) {
  o.q.dtype == DType::float64 ? forward<double>(s, o, random) : forward<float>(s, o, random);
}
void attention_backward(const AttentionShape& s, const AttentionOperands& o, const View& grad,
                        const AttentionGradients& gradients, RandomState* random) {
  o.q.dtype == DType::float64 ? backward<double>(s, o, grad, gradients, random)
                              : backward<float>(s, o, grad, gradients, random);
}

}  // namespace

const AttentionKernels cpu_attention = {attention_forward, attention_backward};

}  // namespace rushlight
