"""Vision Transformer (Dosovitskiy et al., 2020)."""

import math
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ... import _C, nn
from ..._checks import _assert
from ...nn import init
from ..ops.misc import Conv2dNormActivation
from ._weights import published, with_weights

_FILES = {
    "ViT_B_16": "vit_b_16-c867db91.pth",
    "ViT_B_32": "vit_b_32-d86f8d99.pth",
    "ViT_L_16": "vit_l_16-852ce7e3.pth",
    "ViT_L_32": "vit_l_32-c7638314.pth",
    "ViT_H_14": "vit_h_14_swag-80465313.pth",
}
_norm = partial(nn.LayerNorm, eps=1e-6)
__all__ = [
    "ConvStemConfig",
    "VisionTransformer",
    *(name.lower() for name in _FILES),
    *(name + "_Weights" for name in _FILES),
]


def _check_tokens(x):
    _assert(x.dim() == 3, f"Expected (batch_size, seq_length, hidden_dim) got {x.shape}")


class MLPBlock(nn.Sequential):
    """Two linear layers with a GELU between them."""

    def __init__(self, width, hidden, dropout):
        super().__init__(
            nn.Linear(width, hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, width),
            nn.Dropout(dropout),
        )
        for layer in (self[0], self[3]):
            init.xavier_uniform_(layer.weight)
            init.normal_(layer.bias, std=1e-6)


class EncoderBlock(nn.Module):
    """Self-attention and an MLP, each normalised before and added to its input."""

    def __init__(self, heads, width, mlp_dim, dropout, attention_dropout, norm):
        super().__init__()
        self.num_heads = heads
        self.ln_1 = norm(width)
        self.self_attention = nn.MultiheadAttention(
            width, heads, dropout=attention_dropout, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm(width)
        self.mlp = MLPBlock(width, mlp_dim, dropout)

    def forward(self, input):
        """Shape: (n, tokens, width) gives the same."""
        _check_tokens(input)
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """The blocks, after the positions have been added."""

    def __init__(self, tokens, layers, heads, width, mlp_dim, dropout, attention_dropout, norm):
        super().__init__()
        self.pos_embedding = nn.Parameter(_C.empty(1, tokens, width).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(
            OrderedDict(
                (
                    f"encoder_layer_{i}",
                    EncoderBlock(heads, width, mlp_dim, dropout, attention_dropout, norm),
                )
                for i in range(layers)
            )
        )
        self.ln = norm(width)

    def forward(self, input):
        """Shape: (n, tokens, width) gives the same."""
        _check_tokens(input)
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class ConvStemConfig(NamedTuple):
    """A convolution of those that make the tokens of a VisionTransformer.

    Args:
        out_channels, kernel_size, stride: of the convolution.
        norm_layer, activation_layer: the classes of what follows it.
    """

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d
    activation_layer: Callable[..., nn.Module] = nn.ReLU


def _stem(configs, hidden_dim):
    stem, channels = nn.Sequential(), 3
    for i, config in enumerate(configs):
        layer = Conv2dNormActivation(channels, **config._asdict())
        stem.add_module(f"conv_bn_relu_{i}", layer)
        channels = config.out_channels
    stem.add_module("conv_last", nn.Conv2d(channels, hidden_dim, 1))
    return stem


class VisionTransformer(nn.Module):
    """An image as patches, a transformer over them, and the class read off a token of its own.

    Args:
        image_size: height and width of the images, a multiple of patch_size.
        patch_size: height and width of a patch.
        num_layers: blocks.
        num_heads: heads of each attention.
        hidden_dim: width of the tokens.
        mlp_dim: width inside the MLPs.
        dropout: probability after attention and in the MLPs.
        attention_dropout: probability within attention.
        num_classes: outputs of the last layer.
        representation_size: width of a layer with a tanh before the last one; None has none.
        norm_layer: makes a normalisation of a width.
        conv_stem_configs: ConvStemConfigs, the convolutions that make the tokens (Xiao et al.,
            2021); None cuts patches.

    Shape: (n, 3, image_size, image_size) gives (n, num_classes).
    """

    def __init__(
        self, image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, dropout=0.0,
        attention_dropout=0.0, num_classes=1000, representation_size=None,
        norm_layer=_norm, conv_stem_configs=None,
    ):  # fmt: skip
        super().__init__()
        if image_size % patch_size:
            raise AssertionError("Input shape indivisible by patch size!")
        self.image_size, self.patch_size = image_size, patch_size
        self.hidden_dim, self.mlp_dim, self.num_classes = hidden_dim, mlp_dim, num_classes
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.representation_size, self.norm_layer = representation_size, norm_layer
        if conv_stem_configs is None:
            self.conv_proj = nn.Conv2d(3, hidden_dim, patch_size, patch_size)
        else:
            self.conv_proj = _stem(conv_stem_configs, hidden_dim)
        tokens = (image_size // patch_size) ** 2 + 1
        self.class_token = nn.Parameter(_C.zeros(1, 1, hidden_dim))
        self.encoder = Encoder(
            tokens,
            num_layers,
            num_heads,
            hidden_dim,
            mlp_dim,
            dropout,
            attention_dropout,
            norm_layer,
        )
        self.seq_length = tokens
        heads = OrderedDict(head=nn.Linear(representation_size or hidden_dim, num_classes))
        if representation_size is not None:
            before = nn.Linear(hidden_dim, representation_size)
            heads = OrderedDict(pre_logits=before, act=nn.Tanh(), **heads)
        self.heads = nn.Sequential(heads)
        if conv_stem_configs is None:
            last = self.conv_proj
            init.trunc_normal_(last.weight, std=math.sqrt(1 / (3 * patch_size * patch_size)))
        else:
            last = self.conv_proj.conv_last
            init.normal_(last.weight, std=math.sqrt(2 / last.out_channels))
        init.zeros_(last.bias)
        if representation_size is not None:
            init.trunc_normal_(before.weight, std=math.sqrt(1 / hidden_dim))
            init.zeros_(before.bias)
        init.zeros_(self.heads.head.weight)
        init.zeros_(self.heads.head.bias)

    def forward(self, x):
        """The logits of the classes."""
        n, _, h, w = x.shape
        _assert(
            h == self.image_size, f"Wrong image height! Expected {self.image_size} but got {h}!"
        )
        _assert(w == self.image_size, f"Wrong image width! Expected {self.image_size} but got {w}!")
        rows, columns = h // self.patch_size, w // self.patch_size
        patches = self.conv_proj(x).reshape(n, self.hidden_dim, rows * columns).permute(0, 2, 1)
        n = patches.shape[0]
        x = self.encoder(_C.cat([self.class_token.expand(n, -1, -1), patches], dim=1))
        return self.heads(x[:, 0])


def _make(name, **shape):
    files = {"IMAGENET1K_V1": (_FILES[name],)}
    if name == "ViT_H_14":
        files = {
            "IMAGENET1K_SWAG_E2E_V1": (_FILES[name], 518, 518),
            "IMAGENET1K_SWAG_LINEAR_V1": ("vit_h_14_lc_swag-c1eb923e.pth", 224, 224),
        }
    weights = published(f"{name}_Weights", __name__, best=0, **files)

    def vit(**config):
        return VisionTransformer(**{"image_size": 224, **shape, **config})

    vit.__name__ = vit.__qualname__ = name.lower()
    vit.__doc__ = f"Vision Transformer {name[4]} with patches of {name[6:]} x {name[6:]}."
    return weights, with_weights(weights, sized=True)(vit)


_BASE = {"num_layers": 12, "num_heads": 12, "hidden_dim": 768, "mlp_dim": 3072}
_LARGE = {"num_layers": 24, "num_heads": 16, "hidden_dim": 1024, "mlp_dim": 4096}
_HUGE = {"num_layers": 32, "num_heads": 16, "hidden_dim": 1280, "mlp_dim": 5120}
ViT_B_16_Weights, vit_b_16 = _make("ViT_B_16", patch_size=16, **_BASE)
ViT_B_32_Weights, vit_b_32 = _make("ViT_B_32", patch_size=32, **_BASE)
ViT_L_16_Weights, vit_l_16 = _make("ViT_L_16", patch_size=16, **_LARGE)
ViT_L_32_Weights, vit_l_32 = _make("ViT_L_32", patch_size=32, **_LARGE)
ViT_H_14_Weights, vit_h_14 = _make("ViT_H_14", patch_size=14, **_HUGE)
