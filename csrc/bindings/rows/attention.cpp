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
              R"(softmax(query key^T * scale + attn_mask) value, block by block.

The matrix of weights is never in memory whole. A query that may attend to no key gets zeros.

Args:
    attn_mask: True where attention is allowed, or numbers to be added to the scores. It broadcasts
        to (*, l, s).
    dropout_p: the share of the weights that become 0; the others are divided by 1 - dropout_p.
    is_causal: query i attends to the keys 0..i.
    scale: 1 / sqrt(e) when not given.
    enable_gqa: neighbouring heads (dimension -3) of query share one of key and value.

Shape: query (*, l, e), key (*, s, e), value (*, s, v), output (*, l, v).

>>> torch.nn.functional.scaled_dot_product_attention(
...     torch.ones(1, 2, 4), torch.ones(1, 2, 4), torch.ones(1, 2, 3)
... ).shape
torch.Size([1, 2, 3]))");
}

}  // namespace rushlight::python
