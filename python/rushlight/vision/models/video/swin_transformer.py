"""Swin Transformer for videos (Liu et al., 2022): windows in space and time."""

from functools import partial

from .... import _C, nn
from ....nn import functional, init
from .._weights import with_weights
from ..swin_transformer import PatchMerging, ShiftedWindowAttention, SwinTransformerBlock
from ._weights import CLASSES, published_video

# files, stochastic depth, width, blocks, heads
_MODELS = {
    "T": ({"KINETICS400_V1": "swin3d_t-7615ae03.pth"}, 0.1, 96, (2, 2, 6, 2), (3, 6, 12, 24)),
    "S": ({"KINETICS400_V1": "swin3d_s-da41c237.pth"}, 0.1, 96, (2, 2, 18, 2), (3, 6, 12, 24)),
    "B": (
        {"KINETICS400_V1": "swin3d_b_1k-24f7c7c6.pth",
         "KINETICS400_IMAGENET22K_V1": "swin3d_b_22k-7c6ae6fa.pth"},
        0.1, 128, (2, 2, 18, 2), (4, 8, 16, 32),
    ),
}  # fmt: skip
_CHANNELS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
__all__ = [
    "SwinTransformer3d",
    *(f"swin3d_{name.lower()}" for name in _MODELS),
    *(f"Swin3D_{name}_Weights" for name in _MODELS),
]


def _windows(x, size):
    """(n, t, h, w, channels) as (n * windows, pixels of a window, channels)."""
    for axis, length in zip((1, 3, 5), size, strict=True):
        x = x.unflatten(axis, (-1, length))
    return x.permute(0, 1, 3, 5, 2, 4, 6, 7).flatten(0, 3).flatten(1, 3)


def _without_windows(x, size, whole):
    """What _windows() made, as (n, t, h, w, channels) for the (t, h, w) of the video."""
    counts = [n // length for n, length in zip(whole, size, strict=True)]
    x = x.reshape(-1, *counts, *size, x.shape[-1]).permute(0, 1, 4, 2, 5, 3, 6, 7)
    return x.reshape(-1, *whole, x.shape[-1])


def _pair_index(size):
    """For each pair of pixels of a window, the index of their relative position."""
    coords = _C.meshgrid(*(_C.arange(n) for n in size), indexing="ij")
    index = 0
    for axis, n in zip(coords, size, strict=True):
        axis = axis.flatten()
        index = index * (2 * n - 1) + axis[:, None] - axis + n - 1
    return index


def _mask(whole, size, shift, like):
    """-100 for the pairs of pixels that lie beside each other only by rolling, else 0."""
    parts = like.new_zeros(whole)
    for axis, (length, by) in enumerate(zip(size, shift, strict=True)):
        if not by:
            continue
        place = _C.arange(whole[axis], device=like.device) - (whole[axis] - length)
        part = (place >= 0).to(like.dtype) + (place >= length - by).to(like.dtype)
        shape = [-1 if i == axis else 1 for i in range(3)]
        parts = 3 * parts + part.reshape(shape)
    parts = _windows(parts[None, ..., None], size).squeeze(-1)
    return (parts[:, None] != parts[:, :, None]).to(like.dtype) * -100.0


class ShiftedWindowAttention3d(ShiftedWindowAttention):
    """Self-attention within windows of (time, height, width); arguments as of
    ShiftedWindowAttention.

    Shape: (n, t, h, w, dim) gives the same.
    """

    def __init__(
        self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True,
        attention_dropout=0.0, dropout=0.0,
    ):  # fmt: skip
        nn.Module.__init__(self)
        if len(window_size) != 3 or len(shift_size) != 3:
            raise ValueError("window_size and shift_size must be of length 3")
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.register_buffer("relative_position_index", _pair_index(window_size))

    def define_relative_position_bias_table(self):
        """The parameter from which the biases come."""
        count = 1
        for n in self.window_size:
            count *= 2 * n - 1
        self.relative_position_bias_table = nn.Parameter(_C.zeros(count, self.num_heads))
        init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_position_bias(self, window_size):
        """What is added for each pair of pixels of a window: (1, heads, pixels, pixels)."""
        pixels = window_size[0] * window_size[1] * window_size[2]
        index = self.relative_position_index[:pixels, :pixels].flatten()
        bias = self.relative_position_bias_table[index]
        return bias.reshape(pixels, pixels, -1).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x):
        """Attended."""
        given = x.shape[1:4]
        # A window is no longer than the video, and not shifted where it is as long.
        axes = list(zip(given, self.window_size, self.shift_size, strict=True))
        size = [min(n, w) for n, w, _ in axes]
        shift = [0 if n <= w else by for n, w, by in axes]
        t, h, w = (-n % length for n, length in zip(given, size, strict=True))
        x = functional.pad(x, (0, 0, 0, w, 0, h, 0, t))
        whole = x.shape[1:4]
        mask = None
        if any(shift):
            mask = _mask(whole, size, shift, x)
            x = x.roll([-by for by in shift], (1, 2, 3))
        x = self._attended(_windows(x, size), self.get_relative_position_bias(size), mask)
        x = _without_windows(x, size, whole)
        if any(shift):
            x = x.roll(shift, (1, 2, 3))
        return x[:, : given[0], : given[1], : given[2]].contiguous()


class PatchEmbed3d(nn.Module):
    """Blocks of pixels as vectors.

    Args:
        patch_size: (time, height, width) of a block.
        in_channels: channels of the video.
        embed_dim: of the vectors.
        norm_layer: makes the normalisation; none if None.

    Shape: (n, in_channels, t, h, w) gives (n, blocks in time, in rows, in columns, embed_dim).
    """

    def __init__(self, patch_size, in_channels=3, embed_dim=96, norm_layer=None):
        super().__init__()
        self.tuple_patch_size = tuple(patch_size)
        self.proj = nn.Conv3d(in_channels, embed_dim, self.tuple_patch_size, self.tuple_patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x):
        """The vectors; zeros fill the last blocks."""
        sizes = zip(x.shape[2:], self.tuple_patch_size, strict=True)
        t, h, w = (-n % length for n, length in sizes)
        x = self.proj(functional.pad(x, (0, w, 0, h, 0, t)))
        return self.norm(x.permute(0, 2, 3, 4, 1))


class SwinTransformer3d(nn.Module):
    """Stages of attention within windows, each on a quarter of the pixels of the one before.

    Args:
        patch_size: (time, height, width) of a patch.
        embed_dim: channels of the first stage; each other has twice those of the one before.
        depths: blocks of each stage.
        num_heads: heads of each stage.
        window_size: (time, height, width) of a window.
        mlp_ratio: width inside the MLPs in channels.
        dropout: probability in the MLPs and after attention.
        attention_dropout: probability within attention.
        stochastic_depth_prob: of the last block; the first one's is 0.
        num_classes: outputs of the last layer.
        norm_layer: makes the normalisations; LayerNorm by default.
        block: the class of the blocks; SwinTransformerBlock with ShiftedWindowAttention3d.
        downsample_layer: what lies between stages.
        patch_embed: what makes vectors of the video; PatchEmbed3d by default.

    Shape: (n, 3, t, h, w) gives (n, num_classes).
    """

    def __init__(
        self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0,
        attention_dropout=0.0, stochastic_depth_prob=0.1, num_classes=400, norm_layer=None,
        block=None, downsample_layer=PatchMerging, patch_embed=None,
    ):  # fmt: skip
        super().__init__()
        self.num_classes = num_classes
        block = block or partial(SwinTransformerBlock, attn_layer=ShiftedWindowAttention3d)
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        self.patch_embed = (patch_embed or PatchEmbed3d)(
            patch_size=patch_size, embed_dim=embed_dim, norm_layer=norm
        )
        self.pos_drop = nn.Dropout(dropout)
        layers, done, total = [], 0, sum(depths)
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
        self.num_features = dim
        self.norm = norm(dim)
        self.avgpool = nn.AdaptiveAvgPool3d(1)
        self.head = nn.Linear(dim, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = self.norm(self.features(self.pos_drop(self.patch_embed(x))))
        return self.head(self.avgpool(x.permute(0, 4, 1, 2, 3)).flatten(1))


def _make(name):
    files, probability, width, depths, heads = _MODELS[name]
    weights = published_video(f"Swin3D_{name}_Weights", __name__, files, 224, (256,), _CHANNELS)
    shape = {"patch_size": [2, 4, 4], "embed_dim": width, "depths": list(depths),
             "num_heads": list(heads), "stochastic_depth_prob": probability,
             "window_size": [8, 7, 7]}  # fmt: skip

    def swin3d(**config):
        return SwinTransformer3d(**{**shape, "num_classes": CLASSES, **config})

    swin3d.__name__ = swin3d.__qualname__ = f"swin3d_{name.lower()}"
    swin3d.__doc__ = f"Swin Transformer {name} for videos."
    return weights, with_weights(weights, classes=CLASSES)(swin3d)


Swin3D_T_Weights, swin3d_t = _make("T")
Swin3D_S_Weights, swin3d_s = _make("S")
Swin3D_B_Weights, swin3d_b = _make("B")
