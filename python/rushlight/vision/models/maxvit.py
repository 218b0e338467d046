"""MaxViT (Tu et al., 2022): convolutions, attention within windows, attention on a grid."""

from collections import OrderedDict
from functools import partial

from ... import _C, nn
from ...nn import init
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from ._weights import BICUBIC, published, with_weights
from ._windows import pair_index, windows, without_windows

__all__ = ["MaxVit", "MaxVit_T_Weights", "maxvit_t"]


class MBConv(nn.Module):
    """Widened, convolved channel by channel, weighed, narrowed; and added to its input.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        expansion_ratio: width inside in those of the result.
        squeeze_ratio: width of the weighing in those of the result.
        stride: 2 halves height and width.
        activation_layer: makes the activations.
        norm_layer: makes the normalisations, given the channels.
        p_stochastic_dropout: with which the branch is left out in training.
    """

    def __init__(
        self, in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer,
        norm_layer, p_stochastic_dropout=0.0,
    ):  # fmt: skip
        super().__init__()
        self.proj = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            shortcut = [nn.Conv2d(in_channels, out_channels, 1)]
            if stride == 2:
                shortcut.insert(0, nn.AvgPool2d(3, stride, 1))
            self.proj = nn.Sequential(*shortcut)
        width = int(out_channels * expansion_ratio)
        self.stochastic_depth = nn.Identity()
        if p_stochastic_dropout:
            self.stochastic_depth = StochasticDepth(p_stochastic_dropout, "row")
        conv = partial(Conv2dNormActivation, activation_layer=activation_layer,
                       norm_layer=norm_layer, inplace=None)  # fmt: skip
        self.layers = nn.Sequential(
            OrderedDict(
                pre_norm=norm_layer(in_channels),
                conv_a=conv(in_channels, width, 1),
                conv_b=conv(width, width, 3, stride, groups=width),
                squeeze_excitation=SqueezeExcitation(
                    width, int(out_channels * squeeze_ratio), nn.SiLU
                ),
                conv_c=nn.Conv2d(width, out_channels, 1),
            )
        )

    def forward(self, x):
        """Shape: (n, in_channels, h, w) gives (n, out_channels, h / stride, w / stride)."""
        return self.proj(x) + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Self-attention of the tokens of a square, with a bias for each relative place.

    Args:
        feat_dim: channels.
        head_dim: of a head.
        max_seq_len: tokens, a square number.

    Shape: (..., tokens, feat_dim) gives the same.

    Raises:
        ValueError: if heads do not divide the channels.
    """

    def __init__(self, feat_dim, head_dim, max_seq_len):
        super().__init__()
        if feat_dim % head_dim:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads, self.head_dim = feat_dim // head_dim, head_dim
        self.size, self.max_seq_len = round(max_seq_len**0.5), max_seq_len
        self.to_qkv = nn.Linear(feat_dim, 3 * feat_dim)
        self.scale_factor = feat_dim**-0.5
        self.merge = nn.Linear(feat_dim, feat_dim)
        offsets = (2 * self.size - 1) ** 2
        self.relative_position_bias_table = nn.Parameter(_C.zeros(offsets, self.n_heads))
        self.register_buffer("relative_position_index", pair_index((self.size, self.size)))
        init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self):
        """What is added for each pair of tokens: (1, heads, tokens, tokens)."""
        bias = self.relative_position_bias_table[self.relative_position_index]
        return bias.permute(2, 0, 1).unsqueeze(0)

    def forward(self, x):
        """Attended."""
        qkv = self.to_qkv(x).unflatten(-1, (3, self.n_heads, self.head_dim))
        q, k, v = (part.transpose(-2, -3) for part in qkv.unbind(-3))
        logits = q @ (k * self.scale_factor).transpose(-2, -1)
        logits = logits + self.get_relative_positional_bias()
        return self.merge((logits.softmax(-1) @ v).transpose(-2, -3).flatten(-2))


class PartitionAttentionLayer(nn.Module):
    """Attention and an MLP for the pixels of each window, or for those of a grid: pixels at the
    same place of different windows.

    Args:
        in_channels: channels.
        head_dim: of a head.
        partition_size: height and width of a window or grid.
        partition_type: "window" or "grid".
        grid_size: (height, width) of the input.
        mlp_ratio: width inside the MLP in channels.
        activation_layer: makes its activation.
        norm_layer: makes the normalisations, given the channels.
        attention_dropout: probability after attention.
        mlp_dropout: probability after the MLP.
        p_stochastic_dropout: with which a branch is left out in training.

    Shape: (n, in_channels, *grid_size) gives the same.
    """

    def __init__(
        self, in_channels, head_dim, partition_size, partition_type, grid_size, mlp_ratio,
        activation_layer, norm_layer, attention_dropout, mlp_dropout, p_stochastic_dropout,
    ):  # fmt: skip
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError("partition_type must be either 'grid' or 'window'")
        self.grid = partition_type == "grid"
        step = (grid_size[0] // partition_size, grid_size[1] // partition_size)
        self.window = step if self.grid else (partition_size, partition_size)
        width = in_channels * mlp_ratio
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels),
            RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2),
            nn.Dropout(attention_dropout),
        )
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels),
            nn.Linear(in_channels, width),
            activation_layer(),
            nn.Linear(width, in_channels),
            nn.Dropout(mlp_dropout),
        )
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, "row")

    def forward(self, x):
        """Attended and transformed."""
        n, _, *size = x.shape
        x = windows(x.permute(0, 2, 3, 1), self.window).unflatten(0, (n, -1))
        x = x.transpose(1, 2) if self.grid else x
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        x = x.transpose(1, 2) if self.grid else x
        return without_windows(x.flatten(0, 1), self.window, size).permute(0, 3, 1, 2)


class MaxVitLayer(nn.Sequential):
    """Convolutions, attention within windows, attention on a grid.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        stride: of the convolutions.
        grid_size: (height, width) of the result.
        partition_size: height and width of windows and grids.
        head_dim: of a head.
        mlp_ratio: width inside the MLPs in channels.
        squeeze_ratio, expansion_ratio: of the convolutions.
        norm_layer: makes the normalisations of the convolutions, given the channels.
        activation_layer: makes the activations.
        mlp_dropout, attention_dropout: probabilities.
        p_stochastic_dropout: with which a branch is left out in training.
    """

    def __init__(
        self, in_channels, out_channels, stride, grid_size, partition_size, head_dim, mlp_ratio,
        squeeze_ratio, expansion_ratio, norm_layer, activation_layer, mlp_dropout,
        attention_dropout, p_stochastic_dropout,
    ):  # fmt: skip
        layers = OrderedDict(
            MBconv=MBConv(in_channels, out_channels, expansion_ratio, squeeze_ratio, stride,
                          activation_layer, norm_layer, p_stochastic_dropout)
        )  # fmt: skip
        for kind in ("window", "grid"):
            layers[f"{kind}_attention"] = PartitionAttentionLayer(
                out_channels, head_dim, partition_size, kind, grid_size, mlp_ratio,
                activation_layer, nn.LayerNorm, attention_dropout, mlp_dropout,
                p_stochastic_dropout,
            )  # fmt: skip
        super().__init__(OrderedDict(layers=nn.Sequential(layers)))


class MaxVitBlock(nn.Module):
    """A stage: layers one after another, of which the first halves height and width."""

    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        """Shape: (n, inputs, h, w) gives (n, outputs, h / 2, w / 2)."""
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    """Four or so stages of layers, each on a quarter of the pixels of the one before.

    Args:
        input_size: (height, width) of the images.
        stem_channels: of the first layers' result.
        partition_size: height and width of windows and grids.
        block_channels: of each stage.
        block_layers: layers of each stage.
        head_dim: of a head.
        stochastic_depth_prob: of the last layer; the first one's is 0.
        norm_layer: makes the normalisations of the convolutions; BatchNorm2d with eps 1e-3 and
            momentum 0.01 by default.
        activation_layer: makes the activations.
        squeeze_ratio, expansion_ratio: widths inside the convolutions in channels.
        mlp_ratio: width inside the MLPs in channels.
        mlp_dropout, attention_dropout: probabilities.
        num_classes: outputs of the last layer.

    Shape: (n, 3, *input_size) gives (n, num_classes).

    Raises:
        ValueError: if windows do not divide the pixels of a stage.
    """

    def __init__(
        self, input_size, stem_channels, partition_size, block_channels, block_layers, head_dim,
        stochastic_depth_prob, norm_layer=None, activation_layer=nn.GELU, squeeze_ratio=0.25,
        expansion_ratio=4, mlp_ratio=4, mlp_dropout=0.0, attention_dropout=0.0, num_classes=1000,
    ):  # fmt: skip
        super().__init__()
        norm = norm_layer or partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        size = tuple((n + 1) // 2 for n in input_size)
        for _ in block_channels:
            size = tuple((n + 1) // 2 for n in size)
            if size[0] % partition_size or size[1] % partition_size:
                raise ValueError(
                    f"Input size {tuple(input_size)} gives a stage of {size[0]} x {size[1]} "
                    f"pixels, which partition_size {partition_size} does not divide: height and "
                    f"width are multiples of {2 ** (1 + len(block_channels)) * partition_size}"
                )
        self.input_size, self.partition_size = input_size, partition_size
        self.stem = nn.Sequential(
            Conv2dNormActivation(3, stem_channels, 3, 2, norm_layer=norm, inplace=None,
                                 activation_layer=activation_layer),
            Conv2dNormActivation(stem_channels, stem_channels, 3, norm_layer=None,
                                 activation_layer=None, bias=True),
        )  # fmt: skip
        size = tuple((n + 1) // 2 for n in input_size)
        inputs, done, last = stem_channels, 0, max(sum(block_layers) - 1, 1)
        self.blocks = nn.ModuleList()
        for channels, count in zip(block_channels, block_layers, strict=True):
            size = tuple((n + 1) // 2 for n in size)
            layers = []
            for i in range(count):
                probability = stochastic_depth_prob * done / last
                layers.append(
                    MaxVitLayer(channels if i else inputs, channels, 1 if i else 2, size,
                                partition_size, head_dim, mlp_ratio, squeeze_ratio,
                                expansion_ratio, norm, activation_layer, mlp_dropout,
                                attention_dropout, probability)
                )  # fmt: skip
                done += 1
            self.blocks.append(MaxVitBlock(layers))
            inputs = channels
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(inputs),
            nn.Linear(inputs, inputs),
            nn.Tanh(),
            nn.Linear(inputs, num_classes, bias=False),
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


MaxVit_T_Weights = published(
    "MaxVit_T_Weights", __name__, IMAGENET1K_V1=("maxvit_t-bc5ab103.pth", 224, 224, BICUBIC)
)


@with_weights(MaxVit_T_Weights)
def maxvit_t(**config):
    """MaxViT, the tiny one."""
    return MaxVit(**{
        "input_size": (224, 224), "stem_channels": 64, "block_channels": [64, 128, 256, 512],
        "block_layers": [2, 2, 5, 2], "head_dim": 32, "stochastic_depth_prob": 0.2,
        "partition_size": 7, **config,
    })  # fmt: skip
