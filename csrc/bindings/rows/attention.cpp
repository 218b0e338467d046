// torch.nn.functional.scaled_dot_product_attention.
#include "ops/attention.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace rushlight::python {
namespace {

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              std::optional<Tensor> attn_mask, double dropout_p, bool is_causal,
              std::optional<double> scale, bool enable_gqa) {
  return scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
                                      enable_gqa);
}

}  // namespace

void bind_attention(pybind11::module_& m) {
  op<&attend>(m,
              "scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, "
              "is_causal=False, *, scale=None, enable_gqa=False)",
              {.as = As::functional, .autocast = kLower},
              R"(softmax(query key^T * scale + attn_mask) value, computed block by block.

The matrix of weights is never in memory as a whole. A query whose keys are all masked gives zeros.

Args:
    is_causal: query i attends to the keys 0..i.
    query: the queries.
    key: the keys.
    value: the values.
    attn_mask: True where attention is allowed, or a tensor added to the logits; it broadcasts to
        (*, l, s).
    dropout_p: the probability that a weight becomes 0; the others are divided by 1 - dropout_p.
    scale: the factor of the logits; None for 1 / sqrt(e).
    enable_gqa: whether neighbouring heads (dimension -3) of query share one of key and value.

Shape:
    query (*, l, e), key (*, s, e), value (*, s, v); the result (*, l, v).

>>> torch.nn.functional.scaled_dot_product_attention(
...     torch.ones(1, 2, 4), torch.ones(1, 2, 4), torch.ones(1, 2, 3)
... ).shape
torch.Size([1, 2, 3]))");
}

}  // namespace rushlight::python
