"""MViT (Fan et al., 2021; Li et al., 2022) for videos: attention at ever fewer positions."""

from dataclasses import dataclass
from functools import partial

from .... import _C, nn
from ....nn import init
from ...ops.misc import MLP
from ...ops.stochastic_depth import StochasticDepth
from .._weights import with_weights
from ._multiscale import MultiscaleAttention, Pool, _product
from ._weights import CLASSES, published_video

__all__ = ["MViT", "MViT_V1_B_Weights", "MViT_V2_S_Weights", "mvit_v1_b", "mvit_v2_s"]


@dataclass
class MSBlockConfig:
    """The sizes of a block."""

    num_heads: int
    input_channels: int
    output_channels: int
    kernel_q: list[int]
    kernel_kv: list[int]
    stride_q: list[int]
    stride_kv: list[int]


class MultiscaleBlock(nn.Module):
    """Attention and an MLP, each normalised before and added to its input.

    Args:
        input_size: (t, h, w) of the positions.
        cnf: the sizes.
        residual_pool, residual_with_cls_embed, rel_pos_embed: of MultiscaleAttention.
        proj_after_attn: whether attention changes the number of channels, instead of the MLP.
        dropout: probability in the MLP and after attention.
        stochastic_depth_prob: with which a branch is left out in training.
        norm_layer: makes the normalisations, given the channels.
    """

    def __init__(
        self, input_size, cnf, residual_pool, residual_with_cls_embed, rel_pos_embed,
        proj_after_attn, dropout=0.0, stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm,
    ):  # fmt: skip
        super().__init__()
        self.proj_after_attn = proj_after_attn
        width = cnf.output_channels if proj_after_attn else cnf.input_channels
        self.norm1 = norm_layer(cnf.input_channels)
        self.norm2 = norm_layer(width)
        self.attn = MultiscaleAttention(
            input_size, cnf.input_channels, width, cnf.num_heads, cnf.kernel_q, cnf.kernel_kv,
            cnf.stride_q, cnf.stride_kv, residual_pool, residual_with_cls_embed, rel_pos_embed,
            dropout, norm_layer,
        )  # fmt: skip
        self.mlp = MLP(
            width, [4 * width, cnf.output_channels], activation_layer=nn.GELU, dropout=dropout,
            inplace=None,
        )  # fmt: skip
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.pool_skip = self.project = None
        if _product(cnf.stride_q) > 1:
            kernel = tuple(s + 1 if s > 1 else s for s in cnf.stride_q)
            pool = nn.MaxPool3d(kernel, tuple(cnf.stride_q), tuple(k // 2 for k in kernel))
            self.pool_skip = Pool(pool, None)
        if cnf.input_channels != cnf.output_channels:
            self.project = nn.Linear(cnf.input_channels, cnf.output_channels)

    def forward(self, x, thw):
        """Attended and transformed, and the new (t, h, w)."""
        normalised = self.norm1(x)
        attended, new = self.attn(normalised, thw)
        if self.project is not None and self.proj_after_attn:
            x = self.project(normalised)
        if self.pool_skip is not None:
            x, _ = self.pool_skip(x, thw)
        x = x + self.stochastic_depth(attended)
        normalised = self.norm2(x)
        if self.project is not None and not self.proj_after_attn:
            x = self.project(normalised)
        return x + self.stochastic_depth(self.mlp(normalised)), new


class PositionalEncoding(nn.Module):
    """Puts a vector for the class first, and adds to each vector the embedding of its position.

    Args:
        embed_size: channels.
        spatial_size: (h, w) of the positions.
        temporal_size: t.
        rel_pos_embed: whether the attention knows of positions, and nothing is added here.
    """

    def __init__(self, embed_size, spatial_size, temporal_size, rel_pos_embed):
        super().__init__()
        self.spatial_size, self.temporal_size = tuple(spatial_size), temporal_size
        self.class_token = nn.Parameter(_C.zeros(embed_size))
        self.spatial_pos = self.temporal_pos = self.class_pos = None
        if not rel_pos_embed:
            count = spatial_size[0] * spatial_size[1]
            self.spatial_pos = nn.Parameter(_C.zeros(count, embed_size))
            self.temporal_pos = nn.Parameter(_C.zeros(temporal_size, embed_size))
            self.class_pos = nn.Parameter(_C.zeros(embed_size))
        for parameter in self.parameters():
            init.trunc_normal_(parameter, std=0.02)

    def forward(self, x):
        """(n, positions, channels) gives (n, 1 + positions, channels)."""
        x = _C.cat((self.class_token.expand(len(x), 1, -1), x), 1)
        if self.spatial_pos is None:
            return x
        positions = (self.temporal_pos[:, None] + self.spatial_pos).flatten(0, 1)
        return x + _C.cat((self.class_pos[None], positions))


class MViT(nn.Module):
    """Blocks of attention between the positions of a video, with ever fewer positions and more
    channels.

    Args:
        spatial_size: (height, width) of the videos.
        temporal_size: their frames.
        block_setting: the sizes of each block.
        residual_pool: whether the queries are added to what attention gives.
        residual_with_cls_embed: whether the first one is added, too.
        rel_pos_embed: whether logits depend on the distance of positions, else vectors on them.
        proj_after_attn: whether attention changes the number of channels, instead of the MLPs.
        dropout: probability before the last layer.
        attention_dropout: probability in the MLPs and after attention.
        stochastic_depth_prob: of the last block; the first one's is 0.
        num_classes: outputs of the last layer.
        block: the class of the blocks; MultiscaleBlock by default.
        norm_layer: makes the normalisations; LayerNorm with eps 1e-6 by default.
        patch_embed_kernel: of the first convolution.
        patch_embed_stride: its steps.
        patch_embed_padding: its padding.

    Shape: (n, 3, temporal_size, *spatial_size) gives (n, num_classes).
    """

    def __init__(
        self, spatial_size, temporal_size, block_setting, residual_pool, residual_with_cls_embed,
        rel_pos_embed, proj_after_attn, dropout=0.5, attention_dropout=0.0,
        stochastic_depth_prob=0.0, num_classes=400, block=None, norm_layer=None,
        patch_embed_kernel=(3, 7, 7), patch_embed_stride=(2, 4, 4), patch_embed_padding=(1, 3, 3),
    ):  # fmt: skip
        super().__init__()
        if not block_setting:
            raise ValueError("The configuration parameter can't be empty.")
        block = block or MultiscaleBlock
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        first, last = block_setting[0], block_setting[-1]
        self.conv_proj = nn.Conv3d(
            3, first.input_channels, patch_embed_kernel, patch_embed_stride, patch_embed_padding
        )
        size = [
            n // s for n, s in zip((temporal_size, *spatial_size), patch_embed_stride, strict=True)
        ]
        self.pos_encoding = PositionalEncoding(
            first.input_channels, size[1:], size[0], rel_pos_embed
        )
        self.blocks = nn.ModuleList()
        for i, cnf in enumerate(block_setting):
            probability = stochastic_depth_prob * i / max(len(block_setting) - 1.0, 1.0)
            self.blocks.append(
                block(
                    input_size=size, cnf=cnf, residual_pool=residual_pool,
                    residual_with_cls_embed=residual_with_cls_embed, rel_pos_embed=rel_pos_embed,
                    proj_after_attn=proj_after_attn, dropout=attention_dropout,
                    stochastic_depth_prob=probability, norm_layer=norm,
                )
            )  # fmt: skip
            if cnf.stride_q:
                size = [n // s for n, s in zip(size, cnf.stride_q, strict=True)]
        self.norm = norm(last.output_channels)
        self.head = nn.Sequential(
            nn.Dropout(dropout, inplace=True), nn.Linear(last.output_channels, num_classes)
        )
        for module in self.modules():
            if isinstance(module, nn.Linear):
                init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = self.conv_proj(x if x.dim() != 4 else x.unsqueeze(2))
        x = self.pos_encoding(x.flatten(2).transpose(1, 2))
        thw = (self.pos_encoding.temporal_size, *self.pos_encoding.spatial_size)
        for block in self.blocks:
            x, thw = block(x, thw)
        return self.head(self.norm(x)[:, 0])


_HEADS = [1, 2, 2, *[4] * 11, 8, 8]
_KEYS = [[1, 8, 8], [1, 4, 4], [1, 4, 4], *[[1, 2, 2]] * 11, [1, 1, 1], [1, 1, 1]]
_WIDER = (1, 3, 14)  # blocks with a quarter of the positions


def _make(name, file, inputs, outputs, kernel, stride, **switches):
    channels = (0.45, 0.45, 0.45), (0.225, 0.225, 0.225)
    weights = published_video(f"MViT_{name}_Weights", __name__, file, 224, (256,), channels)

    def mvit(**config):
        blocks = []
        for i, sizes in enumerate(zip(_HEADS, inputs, outputs, strict=True)):
            fewer = i in _WIDER
            queries = ([3, 3, 3] if fewer else kernel), ([1, 2, 2] if fewer else stride)
            blocks.append(MSBlockConfig(*sizes, queries[0], [3, 3, 3], queries[1], _KEYS[i]))
        given = {"spatial_size": (224, 224), "temporal_size": 16, "num_classes": CLASSES,
                 "stochastic_depth_prob": 0.2, **config}  # fmt: skip
        return MViT(block_setting=blocks, **switches, **given)

    mvit.__name__ = mvit.__qualname__ = f"mvit_{name.lower()}"
    mvit.__doc__ = f"MViT {name.replace('_', ' ')}, of 16 frames."
    return weights, with_weights(weights, classes=CLASSES)(mvit)


MViT_V1_B_Weights, mvit_v1_b = _make(
    "V1_B", "mvit_v1_b-dbeb1030.pth",
    [96, 192, 192, *[384] * 11, 768, 768], [192, 192, *[384] * 11, 768, 768, 768], [], [],
    residual_pool=False, residual_with_cls_embed=True, rel_pos_embed=False, proj_after_attn=False,
)  # fmt: skip
MViT_V2_S_Weights, mvit_v2_s = _make(
    "V2_S", "mvit_v2_s-ae3be167.pth",
    [96, 96, 192, 192, *[384] * 11, 768], [96, 192, 192, *[384] * 11, 768, 768],
    [3, 3, 3], [1, 1, 1],
    residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True,
)  # fmt: skip
