// Attention on tiles of 32 queries times 32 keys in shared memory. In forward and for q's gradient
// a block has a tile of queries and walks over the keys; for the gradients of k and v a tile of
// keys, and walks over the queries. A block alone adds to its rows of the result, in global memory,
// so that sums have one order. Weights are computed again from the log-sum-exp.
#include "families.h"
#include "kernels/cuda/random/philox.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kTile = 32, kPitch = kTile + 1, kEach = 4;  // a thread has kEach rows of a tile
constexpr int kRows = kThreads / kTile;

// Matrices of (batch, head), their rows contiguous.
template <class C>
struct Heads {
  C* data = nullptr;
  Index batch = 0, head = 0, row = 0;
  Heads() = default;
  Heads(const View& v)
      : data(static_cast<C*>(v.data)), batch(v.strides[0]), head(v.strides[1]), row(v.strides[2]) {}
  Heads(const View* v) {
    if (v) *this = Heads(*v);
  }
  __device__ C* at(Index b, Index h) const { return data + b * batch + h * head; }
};

template <class C>
struct Problem {
  AttentionShape s;
  Heads<const C> q, k, v;
  const void* mask = nullptr;
  bool mask_is_bool = false;
  Index mask_strides[4] = {};
  C* lse;
  Fill fill = {};

  Problem(const AttentionShape& shape, const AttentionOperands& o, RandomState* random)
      : s(shape), q(o.q), k(o.k), v(o.v), lse(o.lse.as<C>()) {
    if (random) fill = next_fill(*random);
    if (!o.mask) return;
    mask = o.mask->data;
    mask_is_bool = o.mask->dtype == DType::boolean;
    for (int d = 0; d < 4; ++d) mask_strides[d] = o.mask->strides[d];
  }
  __device__ Index shared_head(Index h) const { return h / (s.heads / s.kv_heads); }
  __device__ Index reach(Index query) const {  // keys of the tile of queries from `query` on
    return s.causal && query + kTile < s.s ? query + kTile : s.s;
  }
  __device__ C masked(C score, Index b, Index h, Index query, Index key) const {
    constexpr C never = -std::numeric_limits<C>::infinity();
    if (query >= s.l || key >= s.s || (s.causal && key > query)) return never;
    if (!mask) return score;
    const Index at =
        b * mask_strides[0] + h * mask_strides[1] + query * mask_strides[2] + key * mask_strides[3];
    if (mask_is_bool) return static_cast<const bool*>(mask)[at] ? score : never;
    return score + static_cast<const C*>(mask)[at];
  }
  __device__ C noise(Index b, Index h, Index query, Index key) const {
    if (s.keep == 1) return C(1);
    const Index item = ((b * s.heads + h) * s.l + query) * s.s + key;
    return words_of(fill, item).unit() < s.keep ? C(1 / s.keep) : C(0);
  }
};

// A block's shared memory.
template <class C>
struct Tiles {
  C *left, *right, *weights, *grads, *top, *sum, *factor;
  __device__ Tiles() {
    C* p = shared_memory<C>();
    for (C** tile : {&left, &right, &weights, &grads}) {
      *tile = p;
      p += kTile * kPitch;
    }
    top = p;
    sum = top + kTile;
    factor = sum + kTile;
  }
  static std::size_t bytes() { return sizeof(C) * (4 * kTile * kPitch + 3 * kTile); }
};
__device__ inline int column() { return threadIdx.x % kTile; }
__device__ inline int row(int i) { return threadIdx.x / kTile + i * kRows; }

// Rows first.. of a matrix, columns from `from` on, zeros outside.
template <class C>
__device__ void load_tile(const C* m, Index pitch, Index first, Index rows, Index from,
                          Index columns, C* tile) {
  for (int i = 0; i < kEach; ++i) {
    const Index r = first + row(i), c = from + column();
    tile[row(i) * kPitch + column()] = r < rows && c < columns ? m[r * pitch + c] : C(0);
  }
}

// sums[i] = sum over d of a[a_first + row(i)][d] * b[b_first + column()][d]
template <class C>
__device__ void multiply_rows(const C* a, Index a_pitch, Index a_first, Index a_rows, const C* b,
                              Index b_pitch, Index b_first, Index b_rows, Index depth,
                              const Tiles<C>& t, C (&sums)[kEach]) {
  for (C& sum : sums) sum = 0;
  for (Index d = 0; d < depth; d += kTile) {
    __syncthreads();
    load_tile(a, a_pitch, a_first, a_rows, d, depth, t.left);
    load_tile(b, b_pitch, b_first, b_rows, d, depth, t.right);
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      for (int i = 0; i < kEach; ++i)
        sums[i] += t.left[row(i) * kPitch + k] * t.right[column() * kPitch + k];
  }
}

// out[out_first + r] = out[...] * factor[r] + scale * sum over j of tile[r][j] * m[first + j],
// where tile may be read transposed. No factor: 1.
template <class C>
__device__ void add_product(const C* tile, bool transposed, const C* m, Index pitch, Index first,
                            Index rows, C* out, Index out_pitch, Index out_first, Index out_rows,
                            Index columns, C scale, const C* factor, const Tiles<C>& t) {
  const int along = transposed ? kPitch : 1, across = transposed ? 1 : kPitch;
  for (Index c = 0; c < columns; c += kTile) {
    __syncthreads();
    load_tile(m, pitch, first, rows, c, columns, t.right);
    __syncthreads();
    for (int i = 0; i < kEach; ++i) {
      const Index r = out_first + row(i);
      if (r >= out_rows || c + column() >= columns) continue;
      C sum = 0;
      for (int k = 0; k < kTile; ++k)
        sum += tile[row(i) * across + k * along] * t.right[k * kPitch + column()];
      C& to = out[r * out_pitch + c + column()];
      to = to * (factor ? factor[row(i)] : C(1)) + scale * sum;
    }
  }
}

template <class C>
__device__ void clear_rows(C* out, Index pitch, Index first, Index rows, Index columns) {
  for (int i = 0; i < kEach; ++i)
    for (Index c = column(); c < columns && first + row(i) < rows; c += kTile)
      out[(first + row(i)) * pitch + c] = C(0);
  __syncthreads();
}

template <class C>
__global__ void attend(Problem<C> p, Heads<C> out) {
  constexpr C never = -std::numeric_limits<C>::infinity();
  const AttentionShape& s = p.s;
  const Tiles<C> t;
  const Index tiles = (s.l + kTile - 1) / kTile;
  for (Index task = blockIdx.x; task < s.batch * s.heads * tiles; task += gridDim.x) {
    const Index b = task / tiles / s.heads, h = task / tiles % s.heads,
                first = task % tiles * kTile;
    const Index shared = p.shared_head(h);
    C* to = out.at(b, h);
    __syncthreads();
    if (threadIdx.x < kTile) t.top[threadIdx.x] = never, t.sum[threadIdx.x] = C(0);
    clear_rows(to, out.row, first, s.l, s.v);
    for (Index key = 0; key < p.reach(first); key += kTile) {
      C scores[kEach];
      multiply_rows(p.q.at(b, h), p.q.row, first, s.l, p.k.at(b, shared), p.k.row, key, s.s, s.e, t,
                    scores);
      for (int i = 0; i < kEach; ++i)
        t.weights[row(i) * kPitch + column()] =
            p.masked(C(s.scale) * scores[i], b, h, first + row(i), key + column());
      __syncthreads();
      if (threadIdx.x < kTile) {  // one thread a query
        const int r = threadIdx.x;
        C* x = t.weights + r * kPitch;
        C top = t.top[r], sum = 0;
        for (int k = 0; k < kTile; ++k) top = x[k] > top ? x[k] : top;
        const C base = top == never ? C(0) : top;
        for (int k = 0; k < kTile; ++k) {
          const C weight = std::exp(x[k] - base);
          sum += weight;
          x[k] =
              first + r < s.l && key + k < s.s ? weight * p.noise(b, h, first + r, key + k) : C(0);
        }
        t.factor[r] = std::exp(t.top[r] - base);
        t.sum[r] = t.sum[r] * t.factor[r] + sum;
        t.top[r] = top;
      }
      __syncthreads();
      add_product(t.weights, false, p.v.at(b, shared), p.v.row, key, s.s, to, out.row, first, s.l,
                  s.v, C(1), t.factor, t);
    }
    __syncthreads();
    for (int i = 0; i < kEach; ++i) {
      const Index r = first + row(i);
      const C sum = t.sum[row(i)];
      if (r >= s.l) continue;
      for (Index c = column(); c < s.v; c += kTile)
        to[r * out.row + c] = sum == C(0) ? C(0) : to[r * out.row + c] / sum;
      if (column() == 0)
        p.lse[(b * s.heads + h) * s.l + r] = sum == C(0) ? -never : t.top[row(i)] + std::log(sum);
    }
  }
}

// delta = sum over columns of grad * out, for each query
template <class C>
__global__ void sum_products(AttentionShape s, Heads<const C> grad, Heads<const C> out, C* delta) {
  for (Index i = first_item(); i < s.batch * s.heads * s.l; i += stride()) {
    const Index b = i / s.l / s.heads, h = i / s.l % s.heads, r = i % s.l;
    const C *g = grad.at(b, h) + r * grad.row, *y = out.at(b, h) + r * out.row;
    C sum = 0;
    for (Index c = 0; c < s.v; ++c) sum += g[c] * y[c];
    delta[i] = sum;
  }
}

// Of a tile: the weights times the noise, and the gradients of the logits.
template <class C>
__device__ void grad_tile(const Problem<C>& p, const Heads<const C>& grad, const C* delta, Index b,
                          Index h, Index query, Index key, const Tiles<C>& t) {
  const AttentionShape& s = p.s;
  const Index shared = p.shared_head(h), at = (b * s.heads + h) * s.l;
  C scores[kEach], grads[kEach];
  multiply_rows(p.q.at(b, h), p.q.row, query, s.l, p.k.at(b, shared), p.k.row, key, s.s, s.e, t,
                scores);
  multiply_rows(grad.at(b, h), grad.row, query, s.l, p.v.at(b, shared), p.v.row, key, s.s, s.v, t,
                grads);
  __syncthreads();
  for (int i = 0; i < kEach; ++i) {
    const Index r = query + row(i), c = key + column();
    const bool inside = r < s.l && c < s.s;
    const C noise = inside ? p.noise(b, h, r, c) : C(0);
    const C score = p.masked(C(s.scale) * scores[i], b, h, r, c);
    const C weight = inside ? std::exp(score - p.lse[at + r]) : C(0);
    t.weights[row(i) * kPitch + column()] = weight * noise;
    t.grads[row(i) * kPitch + column()] =
        inside ? weight * (grads[i] * noise - delta[at + r]) : C(0);
  }
  __syncthreads();
}

template <class C>
__global__ void attend_grad_queries(Problem<C> p, Heads<const C> grad, const C* delta,
                                    Heads<C> to_q) {
  const AttentionShape& s = p.s;
  const Tiles<C> t;
  const Index tiles = (s.l + kTile - 1) / kTile;
  for (Index task = blockIdx.x; task < s.batch * s.heads * tiles; task += gridDim.x) {
    const Index b = task / tiles / s.heads, h = task / tiles % s.heads,
                first = task % tiles * kTile;
    clear_rows(to_q.at(b, h), to_q.row, first, s.l, s.e);
    for (Index key = 0; key < p.reach(first); key += kTile) {
      grad_tile(p, grad, delta, b, h, first, key, t);
      add_product(t.grads, false, p.k.at(b, p.shared_head(h)), p.k.row, key, s.s, to_q.at(b, h),
                  to_q.row, first, s.l, s.e, C(s.scale), static_cast<const C*>(nullptr), t);
    }
  }
}

template <class C>
__global__ void attend_grad_keys(Problem<C> p, Heads<const C> grad, const C* delta, Heads<C> to_k,
                                 Heads<C> to_v) {
  const AttentionShape& s = p.s;
  const Tiles<C> t;
  const Index tiles = (s.s + kTile - 1) / kTile, group = s.heads / s.kv_heads;
  const C* none = nullptr;
  for (Index task = blockIdx.x; task < s.batch * s.kv_heads * tiles; task += gridDim.x) {
    const Index b = task / tiles / s.kv_heads, shared = task / tiles % s.kv_heads;
    const Index key = task % tiles * kTile;
    if (to_k.data) clear_rows(to_k.at(b, shared), to_k.row, key, s.s, s.e);
    if (to_v.data) clear_rows(to_v.at(b, shared), to_v.row, key, s.s, s.v);
    for (Index h = shared * group; h < (shared + 1) * group; ++h)
      for (Index query = s.causal ? key : 0; query < s.l; query += kTile) {
        grad_tile(p, grad, delta, b, h, query, key, t);
        if (to_v.data)
          add_product(t.weights, true, grad.at(b, h), grad.row, query, s.l, to_v.at(b, shared),
                      to_v.row, key, s.s, s.v, C(1), none, t);
        if (to_k.data)
          add_product(t.grads, true, p.q.at(b, h), p.q.row, query, s.l, to_k.at(b, shared),
                      to_k.row, key, s.s, s.e, C(s.scale), none, t);
      }
  }
}

// One block for each tile of the mask's own elements: it walks over what is broadcast.
struct MaskGrad {
  Index sizes[4], strides[4];  // sizes: 1 where broadcast
  bool shares[4];
};
template <class C>
__global__ void attend_grad_mask(Problem<C> p, Heads<const C> grad, const C* delta, MaskGrad m,
                                 C* to) {
  const AttentionShape& s = p.s;
  const Tiles<C> t;
  const Index rows = (m.sizes[2] + kTile - 1) / kTile, columns = (m.sizes[3] + kTile - 1) / kTile;
  for (Index task = blockIdx.x; task < m.sizes[0] * m.sizes[1] * rows * columns;
       task += gridDim.x) {
    const Index batch = task / columns / rows / m.sizes[1],
                head = task / columns / rows % m.sizes[1];
    const Index query = task / columns % rows * kTile, key = task % columns * kTile;
    C sums[kEach] = {};
    for (Index b = batch; b < (m.shares[0] ? s.batch : batch + 1); ++b)
      for (Index h = head; h < (m.shares[1] ? s.heads : head + 1); ++h)
        for (Index q = query; q < (m.shares[2] ? s.l : query + 1); q += kTile)
          for (Index k = key; k < (m.shares[3] ? s.s : key + 1); k += kTile) {
            grad_tile(p, grad, delta, b, h, q, k, t);
            for (int i = 0; i < kEach; ++i) sums[i] += t.grads[row(i) * kPitch + column()];
          }
    __syncthreads();
    for (int i = 0; i < kEach; ++i) t.weights[row(i) * kPitch + column()] = sums[i];
    __syncthreads();
    const int tall = m.shares[2] ? 1 : kTile, wide = m.shares[3] ? 1 : kTile;
    for (int i = threadIdx.x; i < tall * wide; i += blockDim.x) {
      const int r = i / wide, c = i % wide;
      if (query + r >= m.sizes[2] || key + c >= m.sizes[3]) continue;
      C sum = 0;
      for (int y = r; y < (m.shares[2] ? kTile : r + 1); ++y)
        for (int x = c; x < (m.shares[3] ? kTile : c + 1); ++x) sum += t.weights[y * kPitch + x];
      to[batch * m.strides[0] + head * m.strides[1] + (query + r) * m.strides[2] +
         (key + c) * m.strides[3]] += sum;
    }
    __syncthreads();
  }
}

unsigned blocks_of(Index matrices, Index rows) {
  return blocks_for(matrices * ((rows + kTile - 1) / kTile), 1);
}

template <class C>
void forward(const AttentionShape& s, const AttentionOperands& o, RandomState* random) {
  launch("scaled_dot_product_attention", attend<C>, blocks_of(s.batch * s.heads, s.l), kThreads,
         Tiles<C>::bytes(), Problem<C>(s, o, random), Heads<C>(o.out));
}

template <class C>
void backward(const AttentionShape& s, const AttentionOperands& o, const View& grad,
              const AttentionGradients& to, RandomState* random) {
  const char* op = "scaled_dot_product_attention_backward";
  const Problem<C> p(s, o, random);
  const Heads<const C> g(grad);
  const Index queries = s.batch * s.heads * s.l;
  Scratch<C> delta(queries, op);
  launch_items(op, sum_products<C>, queries, s, g, Heads<const C>(o.out), delta.data());
  if (to.q)
    launch(op, attend_grad_queries<C>, blocks_of(s.batch * s.heads, s.l), kThreads,
           Tiles<C>::bytes(), p, g, delta.data(), Heads<C>(to.q));
  if (to.k || to.v)
    launch(op, attend_grad_keys<C>, blocks_of(s.batch * s.kv_heads, s.s), kThreads,
           Tiles<C>::bytes(), p, g, delta.data(), Heads<C>(to.k), Heads<C>(to.v));
  if (!to.mask) return;
  MaskGrad m;
  Index tasks = 1;
  for (int d = 0; d < 4; ++d) {
    m.strides[d] = to.mask->strides[d];
    m.shares[d] = m.strides[d] == 0;
    m.sizes[d] = m.shares[d] ? 1 : to.mask->sizes[d];
    tasks *= d < 2 ? m.sizes[d] : (m.sizes[d] + kTile - 1) / kTile;
  }
  launch(op, attend_grad_mask<C>, blocks_for(tasks, 1), kThreads, Tiles<C>::bytes(), p, g,
         delta.data(), m, to.mask->as<C>());
}

void attention(const AttentionShape& s, const AttentionOperands& o, RandomState* random) {
  o.q.dtype == DType::float64 ? forward<double>(s, o, random) : forward<float>(s, o, random);
}
void attention_backward(const AttentionShape& s, const AttentionOperands& o, const View& grad,
                        const AttentionGradients& to, RandomState* random) {
  o.q.dtype == DType::float64 ? backward<double>(s, o, grad, to, random)
                              : backward<float>(s, o, grad, to, random);
}

}  // namespace

const AttentionKernels attention_kernels = {nullptr, attention, attention_backward};

}  // namespace rushlight::gpu
