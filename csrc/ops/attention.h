// Scaled dot-product attention: one fused kernel in forward, one in backward, neither with the
// matrix of weights in memory. 16-bit inputs are computed in float32.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// query (*, l, e), key (*, s, e), value (*, s, v) give (*, l, v); leading dimensions broadcast.
// attn_mask broadcasts to (*, l, s): bool, true where attention is allowed, or floating, to be
// added. enable_gqa: dimension -3 of key and value divides that of query. scale: 1 / sqrt(e) when
// not given.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale, bool enable_gqa);

}  // namespace rushlight
