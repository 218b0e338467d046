// Attention on blocks of queries times blocks of keys, which the second cache holds: products by
// gemm, a running maximum and sum for each query. Backward computes the weights of a block again
// from the log-sum-exp. Tasks are blocks of queries in forward; heads of k and v in backward, whose
// gradients they add up, and with dropout, where the draws of a head follow one another.
#include "../attention.h"

#include <optional>
#include <vector>

#include "attention_head.h"
#include "convert.h"
#include "linalg/strided_matrix.h"

namespace rushlight {
namespace {

using namespace attention;

template <class T>
void attend(const Head<T>& h, Index first, Index queries, Noise& noise, T* block) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  const Index reach = h.reach(first + queries - 1);
  const bool rounds = h.o.out.dtype != h.o.lse.dtype;  // out is bfloat16
  Scratch<T> unrounded(std::size_t(rounds ? queries * h.s.v : 0));
  const Matrix<T> out = rounds ? Matrix<T>{unrounded.data(), h.s.v}
                               : matrix_at<T>(h.o.out, h.batch, h.head).block(first, 0);
  T top[kQueries], sum[kQueries];
  std::fill_n(top, queries, never);
  std::fill_n(sum, queries, T(0));
  noise.draw(queries);
  for (Index key = 0; key < reach; key += h.keys()) {
    const Index keys = std::min(h.keys(), reach - key);
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
    h.average(block, queries, key, keys, key > 0, out);
  }
  T* lse = h.o.lse.template as<T>() + h.lse_at() + first;
  for (Index r = 0; r < queries; ++r) {
    T* y = out.data + r * out.ld;
    if (sum[r] == T(0))
      std::fill_n(y, h.s.v, T(0));
    else
      multiply(y, h.s.v, T(1) / sum[r]);
    lse[r] = sum[r] == T(0) ? -never : top[r] + std::log(sum[r]);
    if (rounds) {
      const Matrix<bfloat16> to = matrix_at<bfloat16>(h.o.out, h.batch, h.head).block(first + r, 0);
      convert_row(to.data, y, h.s.v);
    }
  }
}

template <class T>
void forward(const AttentionShape& s, const AttentionOperands& o, RandomState* random) {
  const std::vector<RandomState> states = states_of(s, random);
  const bool in_bfloat16 = o.q.dtype == DType::bfloat16;
  const Index rows = in_bfloat16 ? std::min(kPackedQueries, queries_of(s)) : queries_of(s);
  const Index blocks = (s.l + rows - 1) / rows;
  const Index tasks = s.batch * s.heads * (states.empty() ? blocks : 1);
  const Index work = std::min(s.l, states.empty() ? rows : s.l) * s.s * (s.e + s.v + 8);
  parallel_for(tasks, 1 + kWorthwhile / std::max<Index>(work, 1), [&](Index begin, Index end) {
    Scratch<T> block(std::size_t(kQueries * std::min(kKeys, std::max<Index>(s.s, 1))));
    std::optional<Bfloat16Head> packed;
    if (in_bfloat16) packed.emplace(s);
    for (Index task = begin, last_shared = -1; task < end; ++task) {
      const Index at = states.empty() ? task / blocks : task;
      const Index batch = at / s.heads, shared = at % s.heads / (s.heads / s.kv_heads);
      if (packed && batch * s.kv_heads + shared != last_shared) {
        last_shared = batch * s.kv_heads + shared;
        packed->pack(matrix_at<const bfloat16>(o.k, batch, shared),
                     matrix_at<const bfloat16>(o.v, batch, shared));
      }
      const Head<T> head(s, o, batch, at % s.heads, packed ? &*packed : nullptr);
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

const AttentionKernels cpu_attention = {multiplies_in_bfloat16, attention_forward,
                                        attention_backward};

}  // namespace rushlight
