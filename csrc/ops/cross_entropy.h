// Losses of logits. input (n, classes, ...) or (classes); targets are class indices
// (n, ...), or for cross_entropy probabilities of the input's shape. weight (classes).
#pragma once
#include "ops/loss.h"

namespace rushlight {

Tensor cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                     std::string_view reduction, std::int64_t ignore_index, double label_smoothing);
// input: log-probabilities
Tensor nll_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                std::string_view reduction, std::int64_t ignore_index);

}  // namespace rushlight
