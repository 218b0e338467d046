"""Swin Transformer (Liu et al., 2021) and its second version (Liu et al., 2022)."""

import math
from functools import partial

from ... import _C, nn
from ...nn import functional, init
from ..ops.misc import MLP, Permute
from ..ops.stochastic_depth import StochasticDepth
from ._weights import BICUBIC, published, with_weights
from ._windows import pair_index, shifts_that_fit, window_mask, windows, without_windows

# file, crop, resize, stochastic depth, width, blocks, heads
_SMALL, _TINY = (2, 2, 18, 2), (2, 2, 6, 2)
_MODELS = {
    "T": ("swin_t-704ceda3.pth", 224, 232, 0.2, 96, _TINY, (3, 6, 12, 24)),
    "S": ("swin_s-5e29d889.pth", 224, 246, 0.3, 96, _SMALL, (3, 6, 12, 24)),
    "B": ("swin_b-68c6b09e.pth", 224, 238, 0.5, 128, _SMALL, (4, 8, 16, 32)),
    "V2_T": ("swin_v2_t-b137f0e2.pth", 256, 260, 0.2, 96, _TINY, (3, 6, 12, 24)),
    "V2_S": ("swin_v2_s-637d8ceb.pth", 256, 260, 0.3, 96, _SMALL, (3, 6, 12, 24)),
    "V2_B": ("swin_v2_b-781e5279.pth", 256, 272, 0.5, 128, _SMALL, (4, 8, 16, 32)),
}
__all__ = [
    "SwinTransformer",
    *(f"swin_{name.lower()}" for name in _MODELS),
    *(f"Swin_{name}_Weights" for name in _MODELS),
]


class PatchMerging(nn.Module):
    """Each square of four pixels as one: their channels normalised, then halved.

    Args:
        dim: channels.
        norm_layer: makes the normalisation, given the channels.

    Shape: (..., h, w, dim) gives (..., h / 2, w / 2, 2 dim), of odd sizes the half rounded up.
    """

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def _squares(self, x):
        h, w = x.shape[-3:-1]
        x = functional.pad(x, (0, 0, 0, w % 2, 0, h % 2))
        corners = ((0, 0), (1, 0), (0, 1), (1, 1))
        return _C.cat([x[..., i::2, j::2, :] for i, j in corners], -1)

    def forward(self, x):
        """A quarter of the pixels."""
        return self.reduction(self.norm(self._squares(x)))


class PatchMergingV2(PatchMerging):
    """PatchMerging that normalises its result."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__(dim, norm_layer)
        self.norm = norm_layer(2 * dim)

    def forward(self, x):
        """A quarter of the pixels."""
        return self.norm(self.reduction(self._squares(x)))


class ShiftedWindowAttention(nn.Module):
    """Self-attention within windows, which may lie across those of the block before.

    Args:
        dim: channels.
        window_size: (height, width) of a window.
        shift_size: by how much the windows are shifted.
        num_heads: heads.
        qkv_bias: whether the first layer has a bias.
        proj_bias: whether the last one has.
        attention_dropout: probability within attention.
        dropout: probability after the last layer.

    Shape: (n, h, w, dim) gives the same.
    """

    def __init__(
        self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True,
        attention_dropout=0.0, dropout=0.0,
    ):  # fmt: skip
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.register_buffer("relative_position_index", pair_index(window_size).flatten())

    def define_relative_position_bias_table(self):
        """The parameter from which the biases come."""
        rows, columns = self.window_size
        count = (2 * rows - 1) * (2 * columns - 1)
        self.relative_position_bias_table = nn.Parameter(_C.zeros(count, self.num_heads))
        init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_position_bias(self):
        """What is added for each pair of pixels of a window: (1, heads, pixels, pixels)."""
        pixels = self.window_size[0] * self.window_size[1]
        bias = self.relative_position_bias_table[self.relative_position_index]
        return bias.reshape(pixels, pixels, -1).permute(2, 0, 1).unsqueeze(0)

    def _projected(self, x):
        return self.qkv(x)

    def _logits(self, q, k):
        return (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)

    def _attended(self, x, bias, mask):
        """Of windows (n * windows, pixels, channels); mask is (windows, pixels, pixels)."""
        qkv = self._projected(x).reshape(*x.shape[:2], 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        logits = self._logits(q, k) + bias
        if mask is not None:
            logits = logits.unflatten(0, (-1, len(mask))) + mask.unsqueeze(1)
            logits = logits.flatten(0, 1)
        logits = functional.dropout(logits.softmax(-1), self.attention_dropout, self.training)
        x = (logits @ v).transpose(1, 2).flatten(2)
        return functional.dropout(self.proj(x), self.dropout, self.training)

    def forward(self, x):
        """Attended."""
        h, w = x.shape[1:3]
        size = self.window_size
        x = functional.pad(x, (0, 0, 0, -w % size[1], 0, -h % size[0]))
        rows, columns = x.shape[1:3]
        shift = shifts_that_fit(self.shift_size, size, (rows, columns))
        shifted = any(shift)
        if shifted:
            x = x.roll((-shift[0], -shift[1]), (1, 2))
        x = windows(x, size)
        mask = window_mask((rows, columns), size, shift, x) if shifted else None
        x = self._attended(x, self.get_relative_position_bias(), mask)
        x = without_windows(x, size, (rows, columns))
        if shifted:
            x = x.roll(shift, (1, 2))
        return x[:, :h, :w].contiguous()


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Attention by cosines, and biases that a small network makes of the distances."""

    def __init__(
        self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True,
        attention_dropout=0.0, dropout=0.0,
    ):  # fmt: skip
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias,
                         attention_dropout, dropout)  # fmt: skip
        self.logit_scale = nn.Parameter(_C.full((num_heads, 1, 1), 10.0).log())
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False)
        )
        if qkv_bias:
            self.qkv.bias.data[dim : 2 * dim] = 0

    def define_relative_position_bias_table(self):
        """The distances, on a scale of logarithms."""
        rows, columns = self.window_size
        y = _C.arange(-(rows - 1), rows, dtype=_C.float32) * 8 / (rows - 1)
        x = _C.arange(-(columns - 1), columns, dtype=_C.float32) * 8 / (columns - 1)
        table = _C.stack(_C.meshgrid(y, x, indexing="ij"), -1).unsqueeze(0)
        table = table.sign() * (table.abs() + 1.0).log2() / 3.0
        self.register_buffer("relative_coords_table", table)

    def get_relative_position_bias(self):
        """What is added for each pair of pixels of a window: (1, heads, pixels, pixels)."""
        pixels = self.window_size[0] * self.window_size[1]
        table = self.cpb_mlp(self.relative_coords_table).flatten(0, -2)
        bias = table[self.relative_position_index].reshape(pixels, pixels, -1)
        return 16 * bias.permute(2, 0, 1).unsqueeze(0).sigmoid()

    def _projected(self, x):
        if self.qkv.bias is None:
            return self.qkv(x)
        q, k, v = self.qkv.bias.chunk(3)  # keys have none
        return functional.linear(x, self.qkv.weight, _C.cat((q, _C.zeros_like(k), v)))

    def _logits(self, q, k):
        cosines = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(
            -2, -1
        )
        return cosines * self.logit_scale.clamp(max=math.log(100.0)).exp()


class SwinTransformerBlock(nn.Module):
    """Attention and an MLP, each normalised before and added to its input.

    Args:
        dim: channels.
        num_heads: heads of the attention.
        window_size: (height, width) of a window.
        shift_size: by how much the windows are shifted.
        mlp_ratio: width inside the MLP in channels.
        dropout: probability in the MLP and after attention.
        attention_dropout: probability within attention.
        stochastic_depth_prob: with which a branch is left out in training.
        norm_layer: makes the normalisation, given the channels.
        attn_layer: makes the attention.

    Shape: (n, h, w, dim) gives the same.
    """

    def __init__(
        self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0,
        attention_dropout=0.0, stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm,
        attn_layer=ShiftedWindowAttention,
    ):  # fmt: skip
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(dim, window_size, shift_size, num_heads, dropout=dropout,
                               attention_dropout=attention_dropout)  # fmt: skip
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, dropout=dropout)
        for layer in self.mlp:
            if isinstance(layer, nn.Linear):
                init.xavier_uniform_(layer.weight)
                init.normal_(layer.bias, std=1e-6)

    def forward(self, x):
        """Attended and transformed."""
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """A block that normalises what it adds."""

    def __init__(self, *args, attn_layer=ShiftedWindowAttentionV2, **kwargs):
        super().__init__(*args, attn_layer=attn_layer, **kwargs)

    def forward(self, x):
        """Attended and transformed."""
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    """Stages of attention within windows, each on a quarter of the pixels of the one before.

    Args:
        patch_size: (height, width) of a patch.
        embed_dim: channels of the first stage; each other has twice those of the one before.
        depths: blocks of each stage.
        num_heads: heads of each stage.
        window_size: (height, width) of a window.
        mlp_ratio: width inside the MLPs in channels.
        dropout: probability in the MLPs and after attention.
        attention_dropout: probability within attention.
        stochastic_depth_prob: of the last block; the first one's is 0.
        num_classes: outputs of the last layer.
        norm_layer: makes the normalisations; LayerNorm with eps 1e-5 by default.
        block: the class of the blocks; SwinTransformerBlock by default.
        downsample_layer: what lies between stages.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0,
        attention_dropout=0.0, stochastic_depth_prob=0.1, num_classes=1000, norm_layer=None,
        block=None, downsample_layer=PatchMerging,
    ):  # fmt: skip
        super().__init__()
        block = block or SwinTransformerBlock
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        self.num_classes = num_classes
        size = tuple(patch_size)
        first = nn.Conv2d(3, embed_dim, size, size)
        layers = [nn.Sequential(first, Permute([0, 2, 3, 1]), norm(embed_dim))]
        done, total = 0, sum(depths)
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            dim = embed_dim * 2**stage
            blocks = []
            for i in range(depth):
                shift = [w // 2 if i % 2 else 0 for w in window_size]
                probability = stochastic_depth_prob * done / max(total - 1, 1)
                blocks.append(block(dim, heads, window_size, shift, mlp_ratio, dropout,
                                    attention_dropout, probability, norm))  # fmt: skip
                done += 1
            layers.append(nn.Sequential(*blocks))
            if stage < len(depths) - 1:
                layers.append(downsample_layer(dim, norm))
        self.features = nn.Sequential(*layers)
        self.norm = norm(dim)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(dim, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


def _make(name):
    file, crop, resize, probability, width, depths, heads = _MODELS[name]
    weights = published(f"Swin_{name}_Weights", __name__,
                        IMAGENET1K_V1=(file, crop, resize, BICUBIC))  # fmt: skip
    shape = {"patch_size": [4, 4], "embed_dim": width, "depths": list(depths),
             "num_heads": list(heads), "stochastic_depth_prob": probability,
             "window_size": [7, 7]}  # fmt: skip
    if name.startswith("V2"):
        shape |= {"window_size": [8, 8], "block": SwinTransformerBlockV2,
                  "downsample_layer": PatchMergingV2}  # fmt: skip

    def swin(**config):
        return SwinTransformer(**shape, **config)

    swin.__name__ = swin.__qualname__ = f"swin_{name.lower()}"
    swin.__doc__ = f"Swin Transformer {name.replace('_', ' ')}."
    return weights, with_weights(weights)(swin)


Swin_T_Weights, swin_t = _make("T")
Swin_S_Weights, swin_s = _make("S")
Swin_B_Weights, swin_b = _make("B")
Swin_V2_T_Weights, swin_v2_t = _make("V2_T")
Swin_V2_S_Weights, swin_v2_s = _make("V2_S")
Swin_V2_B_Weights, swin_v2_b = _make("V2_B")
