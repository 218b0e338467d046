// Attention of bfloat16 in AMX tiles: keys and values of one head, packed once for all its queries.
#pragma once
#include "../attention.h"
#include "linalg/bfloat16_panels.h"
#include "linalg/gemm.h"
#include "scratch.h"

namespace rushlight::attention {

// Whether that is quicker than products of float32; false where the processor has no tiles.
bool multiplies_in_bfloat16(const AttentionShape& s);

class Bfloat16Head {
 public:
  explicit Bfloat16Head(const AttentionShape& s);

  void pack(Matrix<const bfloat16> k, Matrix<const bfloat16> v);

  // scale * q k^T of `queries` rows of q and the keys from `key` on, a multiple of 32; `keys`
  // elements a row.
  void logits(Matrix<const bfloat16> q, std::int64_t queries, std::int64_t key, std::int64_t keys,
              float* to) const;
  // out = weights v, or adds it: of those queries and keys, the weights rounded to bfloat16.
  void average(const float* weights, std::int64_t queries, std::int64_t key, std::int64_t keys,
               bool adds, Matrix<float> out) const;

 private:
  const AttentionShape& s_;
  std::int64_t features_, keys_;  // in pairs, whole tiles of them
  Scratch<Bfloat16Pair> k_, v_;  // panels of 32 keys, and of 32 features of v
};

}  // namespace rushlight::attention
