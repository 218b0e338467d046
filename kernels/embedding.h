// Rows of a table by index.
#pragma once
#include "view.h"

namespace rushlight {

// weight (rows, size), indices (n) int64 or int32, out and grad (n, size); all contiguous.
struct EmbeddingKernels {
  // Returns the position of the first index outside [0, rows), having written nothing, or -1.
  std::int64_t (*forward)(const View& weight, const View& indices, const View& out);
  // grad_weight[index[i]] += grad[i] in the order of i, except where index[i] == padding_idx;
  // divided by how often the index occurs where `by_frequency`. Indices were checked by forward.
  std::int64_t (*backward)(const View& grad, const View& indices, std::int64_t padding_idx,
                           bool by_frequency, const View& grad_weight);
  // out[b] = the sum of `length` rows, those of indices[b * length] and on, or their mean. Returns
  // as forward; null on a device where rows are read first and then added.
  std::int64_t (*bags)(const View& weight, const View& indices, std::int64_t length, bool means,
                       const View& out);
};

extern const EmbeddingKernels cpu_embedding;

}  // namespace rushlight
