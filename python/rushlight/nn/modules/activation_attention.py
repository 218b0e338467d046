"""MultiheadAttention, an attribute of activation.py as in torch."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.linear import NonDynamicallyQuantizableLinear
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads, each on a part of the projected features (Vaswani et al., 2017).

    concat(head_1, ..., head_h) W_o, with head_i = softmax(q_i k_i^T / sqrt(d)) v_i and q_i, k_i,
    v_i the projections of query, key and value.

    Args:
        embed_dim: features of the query and the output.
        num_heads: must divide embed_dim.
        dropout: probability that an attention weight is zeroed in training.
        bias: whether the projections have a bias.
        add_bias_kv: append a learned position to key and value.
        add_zero_attn: append a position of zeros to key and value.
        kdim, vdim: features of key and value; embed_dim if None.
        batch_first: tensors are (n, l, e) instead of (l, n, e).
        device, dtype: of the parameters.

    Shape: query (l, n, e), key (s, n, kdim), value (s, n, vdim), all with or without n; output (l,
    n, e) and attention weights (n, l, s).

    >>> x = torch.ones(3, 2, 8)
    >>> out, weights = torch.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([3, 2, 8]), torch.Size([2, 3, 3]))
    """

    bias_k: _C.Tensor | None
    bias_v: _C.Tensor | None

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False,
        add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
            )

        def new(*shape):
            return Parameter(_C.empty(shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = new(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = new(embed_dim, embed_dim)
            self.k_proj_weight = new(embed_dim, self.kdim)
            self.v_proj_weight = new(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = new(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self.bias_k = new(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = new(1, 1, embed_dim) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state):
        super().__setstate__({"_qkv_same_embed_dim": True, **state})

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
        average_attn_weights=True, is_causal=False,
    ):  # fmt: skip
        """The attended values, and the attention weights.

        Args:
            query, key, value: what is compared, with what, and what is averaged.
            key_padding_mask: (n, s), True where a source position is padding.
            need_weights: return the weights too, else None; False is faster.
            attn_mask: (l, s) or (n * num_heads, l, s), True where attention is not allowed, or
                floats that are added to the logits.
            average_attn_weights: the mean over the heads, (n, l, s), instead of (n, num_heads, l,
                s).
            is_causal: a hint that attn_mask is the causal mask.
        """
        swap = self.batch_first and query.dim() == 3
        if swap:
            same = query is key, key is value
            query, key, value = (
                x.transpose(0, 1) if x.dim() == 3 else x for x in (query, key, value)
            )
            value = key if same[1] else value
            query = key if same[0] else query
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return out.transpose(0, 1) if swap else out, weights

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """attn_mask and key_padding_mask, broadcast to the batch and heads of query and added.

        Returns: the merged mask and its kind: 0 attn_mask, 1 key_padding_mask, 2 both, None for
        none.
        """
        if attn_mask is None and key_padding_mask is None:
            return None, None
        if attn_mask is None:
            return key_padding_mask, 1
        batch, length = query.shape[:2]
        if attn_mask.dim() == 3:
            merged = attn_mask.reshape(batch, -1, length, length)
        else:
            merged = attn_mask.reshape(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.reshape(batch, 1, 1, length)
        return merged, 2
