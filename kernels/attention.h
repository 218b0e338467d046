// Attention, out = (softmax(scale * q k^T + mask) * noise) v, block by block: the matrix of weights
// is never in memory whole. A query that may attend to no key gets zeros.
#pragma once
#include "random.h"
#include "view.h"

namespace rushlight {

// All views have rank 4 and one dtype, float32 or float64: q (batch, heads, l, e), k (batch,
// kv_heads, s, e), v (batch, kv_heads, s, v). kv_heads divides heads: neighbouring heads of q share
// one of k and v. Elements of a row are contiguous and rows do not overlap; other strides are free.
struct AttentionShape {
  std::int64_t batch, heads, kv_heads, l, s, e, v;
  double scale;
  bool causal;  // query i attends to the keys 0..i
  // Dropout: the noise is 1 / keep with this probability, else 0; keep == 1 draws nothing. There is
  // one draw for each weight, in the order of a contiguous (batch, heads, l, s).
  double keep;
  // Whether q, k and v are numbers of bfloat16, whatever their dtype: the products of forward may
  // then round the weights to such, as torch does.
  bool rounded = false;
};

// mask: (batch, heads, l, s) with any strides, of bool (true: may attend) or the dtype of q (to be
// added). out: (batch, heads, l, v), its rows as those of q. lse: contiguous (batch, heads, l), the
// logarithm of the sum of exponentials; +inf where there is nothing to attend to.
struct AttentionOperands {
  const View &q, &k, &v;
  const View* mask;  // null: none
  const View &out, &lse;
};
// Null: not wanted. grad_mask has the strides of the mask, 0 along what is summed, and is added to.
struct AttentionGradients {
  const View *q, *k, *v, *mask;
};

struct AttentionKernels {
  // Whether q, k and v may be bfloat16, and `out` too, for forward; lse and a mask of numbers are
  // float32. Null: never.
  bool (*takes_bfloat16)(const AttentionShape& s);
  // random: null where keep == 1
  void (*attention)(const AttentionShape& s, const AttentionOperands& o, RandomState* random);
  // `random` as the forward found it.
  void (*attention_backward)(const AttentionShape& s, const AttentionOperands& o, const View& grad,
                             const AttentionGradients& gradients, RandomState* random);
};

extern const AttentionKernels cpu_attention;

}  // namespace rushlight
