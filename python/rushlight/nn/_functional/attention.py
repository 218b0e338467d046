"""Scaled dot-product attention, written with ops."""

import math

from rushlight import _C
from rushlight._casts import casts
from rushlight._results import check_tensors

__all__ = ["scaled_dot_product_attention"]


@casts(cpu="lower", cuda="lower")
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
    enable_gqa=False,
):  # fmt: skip
    """softmax(q k^T * scale + mask) v (Vaswani et al., 2017).

    Args:
        attn_mask: True (or 0) where attention is allowed, False (or -inf) where not.
        is_causal: a position attends to itself and what is before it.
        scale: 1 / sqrt(e) when not given.

    Shape: query (*, l, e), key (*, s, e), value (*, s, v), output (*, l, v).

    >>> torch.nn.functional.scaled_dot_product_attention(
    ...     torch.ones(1, 2, 4), torch.ones(1, 2, 4), torch.ones(1, 2, 3)
    ... ).shape
    torch.Size([1, 2, 3])
    """
    check_tensors("scaled_dot_product_attention", query=query, key=key, value=value)
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    l, s = query.size(-2), key.size(-2)  # noqa: E741
    if scale is None:  # without features the scores are all zeros
        scale = 1 / math.sqrt(query.size(-1) or 1)
    if enable_gqa:
        heads = query.size(-3)
        key = key.repeat_interleave(heads // key.size(-3), -3)
        value = value.repeat_interleave(heads // value.size(-3), -3)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        attn_mask = _C.ones((l, s), dtype=_C.bool, device=query.device).tril()
    dtype = query.dtype
    if dtype in (_C.float16, _C.bfloat16):  # scores and sums in float32, rounded once
        query, key, value = query.float(), key.float(), value.float()
    scores = _C.matmul(query, key.transpose(-2, -1)) * scale
    if attn_mask is not None:
        if attn_mask.dtype == _C.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = _C.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = _C.dropout(weights, dropout_p, True)
    return _C.matmul(weights, value).to(dtype)
