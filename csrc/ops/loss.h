// Losses of elements and their targets, reduced. Shapes broadcast.
#pragma once
#include "ops/ops.h"

namespace rushlight {

enum class Reduction : unsigned char { none, mean, sum };
Reduction reduction_of(std::string_view name);  // ValueError for another word
Tensor reduced(const Tensor& loss, Reduction reduction);

Tensor mse_loss(const Tensor& input, const Tensor& target, std::string_view reduction);
Tensor l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction);
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                      double beta);
Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                  double delta);
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const std::optional<Tensor>& weight, std::string_view reduction);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight,
                                        std::string_view reduction);

}  // namespace rushlight
