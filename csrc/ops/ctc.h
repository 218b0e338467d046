// The connectionist temporal classification loss.
#pragma once
#include "ops/loss.h"

namespace rushlight {

// log_probs (t, n, c) or (t, c); targets (n, s), or all of them in one row; a length each of the
// inputs and of the targets. "mean" first divides each loss by the length of its target.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                const std::vector<std::int64_t>& input_lengths,
                const std::vector<std::int64_t>& target_lengths, std::int64_t blank,
                Reduction reduction, bool zero_infinity);

}  // namespace rushlight
