"""Multi-head attention as one function: projections, heads, masks, attention, projection.

Masks of booleans are True where attention is *not* allowed, the opposite of what
scaled_dot_product_attention takes; inside they become floats to add, 0 or -inf.
"""

from __future__ import annotations

import math
import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


def _none_or_dtype(input):
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as floats to add to the logits, or None; `other_type` is the dtype, if any, of the
    mask that it is merged with."""
    if mask is None:
        return None
    if mask.dtype != _C.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. "
            "Use same type for both instead.",
            stacklevel=3,
        )
    if mask.dtype != _C.bool:
        return mask
    return _C.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the tensors have a batch; AssertionError where they do not agree on it."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
        )
    kind = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
            f"found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask.dim()}-D tensor instead"
            )
        wanted = (num_heads, query.shape[0], key.shape[0])
        if rank == 2 and attn_mask.dim() == 3 and tuple(attn_mask.shape) != wanted:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}"
            )
    return rank == 3


def _check_sizes(query, key, value, embed_dim, num_heads, separate):
    if query.size(-1) != embed_dim:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim}, but got {query.size(-1)}"
        )
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """q, k and v, each by a matrix of its own."""
    e = q.size(-1)
    for name, x, w in (("query", q, w_q), ("key", k, w_k), ("value", v, w_v)):
        if w.shape != (e, x.size(-1)):
            raise AssertionError(
                f"expecting {name} weights shape of {(e, x.size(-1))}, but got {w.shape}"
            )
    for name, b in (("query", b_q), ("key", b_k), ("value", b_v)):
        if b is not None and b.shape != (e,):
            raise AssertionError(f"expecting {name} bias shape of {(e,)}, but got {b.shape}")
    linear = _C._nn.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b=None):
    """q, k and v by one matrix that holds three, in one product where the inputs are the same."""
    linear = _C._nn.linear
    if k is v and q is k:
        return linear(q, w, b).chunk(3, -1)
    e = q.size(-1)
    if k is v:
        matrices = w.split([e, 2 * e])
        biases = (None, None) if b is None else b.split([e, 2 * e])
        first = linear(q, matrices[0], biases[0])
        return (first, *linear(k, matrices[1], biases[1]).chunk(2, -1))
    biases = (None,) * 3 if b is None else b.chunk(3)
    return tuple(map(linear, (q, k, v), w.chunk(3), biases))


def _check_mask(mask, heads, target, source):
    """The attention mask as (1 or n * heads, l, s)."""
    if mask.dim() == 2:
        if tuple(mask.shape) != (target, source):
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {mask.shape}, but should be {(target, source)}."
            )
        return mask.unsqueeze(0)
    if mask.dim() == 3:
        if tuple(mask.shape) != (heads, target, source):
            raise RuntimeError(
                f"The shape of the 3D attn_mask is {mask.shape}, but should be "
                f"{(heads, target, source)}."
            )
        return mask
    raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")


def _heads(x, static, name, heads, head_dim):
    """(s, n, e) to (n * heads, s, head_dim), or what the caller gave instead."""
    if static is None:
        return x.reshape(x.size(0), heads, head_dim).transpose(0, 1)
    if static.size(0) != heads:
        raise AssertionError(f"expecting {name}.size(0) of {heads}, but got {static.size(0)}")
    if static.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {static.size(2)}")
    return static


def _wider(mask):
    """One more source position, which everything may attend to."""
    return None if mask is None else _C.constant_pad_nd(mask, (0, 1), 0.0)


def _padding_per_head(mask, batch, num_heads, source):
    for i, wanted in enumerate((batch, source)):
        if mask.shape[i] != wanted:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{i}] to be {wanted}, but got {mask.shape[i]}"
            )
    mask = mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
    return mask.reshape(batch * num_heads, 1, source)


@op("nn.functional")
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, each on a part of the projected features; what
    nn.MultiheadAttention calls.

    Args:
        query, key, value: what is compared, with what, and what is averaged.
        embed_dim_to_check: e, the features of the query.
        num_heads: must divide e.
        in_proj_weight, in_proj_bias: (3 e, e) and (3 e), the projections of q, k and v.
        bias_k, bias_v: a learned position that is appended to key and value, or None.
        add_zero_attn: append a position of zeros to key and value.
        dropout_p: probability that an attention weight is zeroed in training.
        out_proj_weight, out_proj_bias: the projection of the result.
        training: whether there is dropout.
        key_padding_mask: (n, s), True where a source position is padding.
        need_weights: return the attention weights too.
        attn_mask: (l, s) or (n * num_heads, l, s), True where attention is not allowed, or floats
            that are added to the logits.
        use_separate_proj_weight: use the next three instead of in_proj_weight.
        q_proj_weight, k_proj_weight, v_proj_weight: the projections of q, k and v.
        static_k, static_v: projected keys and values, (n * num_heads, s, e / num_heads).
        average_attn_weights: the mean of the weights over the heads, (n, l, s).
        is_causal: a hint that attn_mask is the causal mask.

    Shape: query (l, n, e), key (s, n, e), value (s, n, e), all with or without n; output (l, n, e)
    and weights (n, l, s).

    >>> x, w = torch.ones(3, 1, 4), torch.zeros(12, 4)
    >>> out, weights = torch.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, torch.zeros(4, 4), None
    ... )
    >>> out.shape, weights[0, 0]
    (torch.Size([3, 1, 4]), tensor([0.3333, 0.3333, 0.3333]))
    """
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same = query is key, key is value
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        value = key if same[1] else value
        query = key if same[0] else query
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target, batch, embed_dim = query.shape
    source = key.size(0)
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint is enough
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        is_causal = is_causal and key_padding_mask is None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    if None in (separate if use_separate_proj_weight else (in_proj_weight,)):
        raise AssertionError(
            f"use_separate_proj_weight is {use_separate_proj_weight} but a weight is None"
        )
    if use_separate_proj_weight:
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _in_projection(query, key, value, *separate, *biases)
    else:
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    heads, head_dim = batch * num_heads, embed_dim // num_heads
    if attn_mask is not None:
        attn_mask = _check_mask(attn_mask, heads, target, source)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v go together: one is set, the other is None")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = _C.cat([k, bias_k.expand(1, batch, -1)])
        v = _C.cat([v, bias_v.expand(1, batch, -1)])
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    q = _heads(q, None, "query", heads, head_dim)
    k = _heads(k, static_k, "static_k", heads, head_dim)
    v = _heads(v, static_v, "static_v", heads, head_dim)
    if add_zero_attn:
        zeros = _C.zeros((heads, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = _C.cat([k, zeros], 1), _C.cat([v, zeros], 1)
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    source = k.size(1)
    if key_padding_mask is not None:
        padding = _padding_per_head(key_padding_mask, batch, num_heads, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        out, weights = _with_weights(q, k, v, attn_mask, dropout_p)
    else:
        shape = (batch, num_heads)
        out, weights = _without_weights(q, k, v, attn_mask, dropout_p, is_causal, shape), None
    out = out.transpose(0, 1).reshape(target * batch, embed_dim)
    out = _C._nn.linear(out, out_proj_weight, out_proj_bias)
    out = out.reshape(target, batch, out.size(1))
    if weights is not None:
        weights = weights.reshape(batch, num_heads, target, source)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    return out if batched else out.squeeze(1), weights


def _with_weights(q, k, v, mask, dropout_p):
    q = q * math.sqrt(1.0 / q.size(-1))
    k = k.transpose(-2, -1)
    logits = _C.bmm(q, k) if mask is None else _C.baddbmm(mask, q, k)
    weights = _C.softmax(logits, -1)
    if dropout_p > 0.0:
        weights = _C.dropout(weights, dropout_p, True)
    return _C.bmm(weights, v), weights


def _without_weights(q, k, v, mask, dropout_p, is_causal, heads):
    """With a dimension for the heads, as scaled_dot_product_attention's callers have it.

    Args:
        heads: the batch size and the number of heads.
    """

    def split(x):
        return x.reshape(*heads, *x.shape[1:])

    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 else split(mask)
    out = _C._nn.scaled_dot_product_attention(
        split(q), split(k), split(v), mask, dropout_p, is_causal
    )
    return out.reshape(q.size(0), q.size(1), v.size(-1))
