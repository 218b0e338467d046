"""The attention of MViT: queries, keys and values have positions, and fewer of them by pooling."""

from .... import _C, einsum, nn
from ....nn import functional, init


def _product(sizes):
    found = 1
    for size in sizes:
        found *= size
    return found


class Pool(nn.Module):
    """Pools vectors by their positions, all but the first, which has none.

    Args:
        pool: of (n, channels, t, h, w).
        norm: of the channels, afterwards; none if None.
        activation: after that; none if None.
        norm_before_pool: whether both come before the pooling.

    Shape: (n, heads, 1 + t h w, channels), or without heads.
    """

    def __init__(self, pool, norm, activation=None, norm_before_pool=False):
        super().__init__()
        self.pool = pool
        self.norm_act = nn.Sequential(*(x for x in (norm, activation) if x is not None))
        self.norm_before_pool = norm_before_pool

    def forward(self, x, thw):
        """The pooled vectors, and the new (t, h, w)."""
        heads = x if x.dim() == 4 else x.unsqueeze(1)
        first, rest = heads[:, :, :1], heads[:, :, 1:]
        if self.norm_before_pool:
            rest = self.norm_act(rest)
        n, count, _, channels = rest.shape
        rest = self.pool(rest.transpose(2, 3).reshape(n * count, channels, *thw))
        thw = tuple(rest.shape[2:])
        rest = rest.reshape(n, count, channels, -1).transpose(2, 3)
        heads = _C.cat((first, rest), 2)
        if not self.norm_before_pool:
            heads = self.norm_act(heads)
        return (heads if x.dim() == 4 else heads.squeeze(1)), thw


def _between(positions, queries, keys):
    """The vector of the way from each key to each query of an axis: (queries, keys, channels)."""
    count = 2 * max(queries, keys) - 1
    if len(positions) != count:
        positions = functional.interpolate(positions.T[None], size=count, mode="linear")[0].T
    q = _C.arange(queries, device=positions.device)[:, None] * max(keys / queries, 1.0)
    k = _C.arange(1 - keys, 1, device=positions.device)[None] * max(queries / keys, 1.0)
    return positions[(q - k).long()]


class MultiscaleAttention(nn.Module):
    """Attention whose queries, keys and values are pooled.

    Args:
        input_size: (t, h, w) of the positions.
        embed_dim: channels of the input.
        output_dim: channels of the result.
        num_heads: heads.
        kernel_q: of the convolution that pools queries; none if empty.
        kernel_kv: of those of keys and values; none if empty.
        stride_q: by how much there are fewer queries on each axis.
        stride_kv: the same of keys and values.
        residual_pool: whether the queries are added to the result.
        residual_with_cls_embed: whether the first one is added, too.
        rel_pos_embed: whether logits depend on the distance of two positions.
        dropout: probability after the last layer.
        norm_layer: makes the normalisations after the poolings.
    """

    def __init__(
        self, input_size, embed_dim, output_dim, num_heads, kernel_q, kernel_kv, stride_q,
        stride_kv, residual_pool, residual_with_cls_embed, rel_pos_embed, dropout=0.0,
        norm_layer=nn.LayerNorm,
    ):  # fmt: skip
        super().__init__()
        self.output_dim, self.num_heads = output_dim, num_heads
        self.head_dim = output_dim // num_heads
        self.residual_pool = residual_pool
        self.residual_with_cls_embed = residual_with_cls_embed
        self.qkv = nn.Linear(embed_dim, 3 * output_dim)
        last = [nn.Linear(output_dim, output_dim)]
        if dropout > 0:
            last.append(nn.Dropout(dropout, inplace=True))
        self.project = nn.Sequential(*last)
        pooled = ("q", kernel_q, stride_q), ("k", kernel_kv, stride_kv), ("v", kernel_kv, stride_kv)
        for name, kernel, stride in pooled:
            pool = None
            if _product(kernel) > 1 or _product(stride) > 1:
                convolution = nn.Conv3d(
                    self.head_dim, self.head_dim, tuple(kernel), tuple(stride),
                    tuple(k // 2 for k in kernel), groups=self.head_dim, bias=False,
                )  # fmt: skip
                pool = Pool(convolution, norm_layer(self.head_dim))
            setattr(self, f"pool_{name}", pool)
        self.rel_pos_h = self.rel_pos_w = self.rel_pos_t = None
        if rel_pos_embed:
            size = max(input_size[1:])
            fewer = [size // s[1] if s else size for s in (stride_q, stride_kv)]
            for axis, most in zip("hwt", (max(fewer), max(fewer), input_size[0]), strict=True):
                positions = nn.Parameter(_C.zeros(2 * most - 1, self.head_dim))
                init.trunc_normal_(positions, std=0.02)
                setattr(self, f"rel_pos_{axis}", positions)

    def _by_way(self, q, q_thw, k_thw):
        """What is added to the logits of all but the first query and key."""
        positions = q[:, :, 1:].unflatten(2, q_thw)
        t, h, w = (
            einsum(
                f"bythwc,{axis}kc->bythwk",
                positions,
                _between(getattr(self, f"rel_pos_{axis}"), q_thw[i], k_thw[i]),
            )
            for i, axis in enumerate("thw")
        )
        logits = t[..., :, None, None] + h[..., None, :, None] + w[..., None, None, :]
        return logits.flatten(5, 7).flatten(2, 4)

    def forward(self, x, thw):
        """Attended, and the (t, h, w) of the queries."""
        n, count, _ = x.shape
        qkv = self.qkv(x).reshape(n, count, 3, self.num_heads, self.head_dim)
        pooled, sizes = [], []
        pools = self.pool_q, self.pool_k, self.pool_v
        for part, pool in zip(qkv.permute(2, 0, 3, 1, 4), pools, strict=True):
            part, size = (part, tuple(thw)) if pool is None else pool(part, thw)
            pooled.append(part)
            sizes.append(size)
        q, k, v = pooled
        logits = (q * self.head_dim**-0.5) @ k.transpose(2, 3)
        if self.rel_pos_h is not None:
            way = self._by_way(q, sizes[0], sizes[1])
            logits = logits + functional.pad(way, (1, 0, 1, 0))
        x = logits.softmax(-1) @ v
        if self.residual_pool:
            if not self.residual_with_cls_embed:
                q = _C.cat((_C.zeros_like(q[:, :, :1]), q[:, :, 1:]), 2)
            x = x + q
        return self.project(x.transpose(1, 2).flatten(2)), sizes[0]
