// Rows of a table by index, and indices as rows.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// weight (rows, size), indices of any shape -> (*, size). The row padding_idx gets no gradient;
// negative: none.
Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse);
// The same with sparse=True, whose gradient Python makes: set by the bindings.
inline Tensor (*sparse_embedding)(const Tensor& weight, const Tensor& indices,
                                  std::int64_t padding_idx, bool scale_grad_by_freq) = nullptr;
// weight (rows, size), indices (n), offsets (bags) -> (bags, size); offsets: where each bag starts,
// with include_last_offset (bags + 1) also where the last one ends; a GPU's ends at n all the same,
// as the host does not wait. mode: "sum", "mean" or "max"; rows that are the padding take no part.
Tensor embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     std::string_view mode, std::optional<Tensor> per_sample_weights,
                     std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse,
                     bool include_last_offset);
// The same of bags of `length` indices each (n, int64), where the device has a kernel for it.
Tensor embedding_bags(const Tensor& weight, const Tensor& indices, std::int64_t length, bool means,
                      bool scale_grad_by_freq);
bool has_embedding_bags(const Tensor& weight);
// (*) -> (*, num_classes) of 0 and 1, int64; negative: one more than the largest.
Tensor one_hot(const Tensor& tensor, std::int64_t num_classes);

}  // namespace rushlight
