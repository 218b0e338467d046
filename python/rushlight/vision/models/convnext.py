"""ConvNeXt (Liu et al., A ConvNet for the 2020s, 2022)."""

import functools

from ... import _C, nn
from ...nn import functional as F
from ..ops.misc import Conv2dNormActivation, Permute
from ..ops.stochastic_depth import StochasticDepth
from ._weights import published, with_weights

# file, resize, widths of the stages and of the last, blocks, probability of dropping a block
_MODELS = {
    "Tiny": ("convnext_tiny-983f1562.pth", 236, (96, 192, 384, 768), (3, 3, 9, 3), 0.1),
    "Small": ("convnext_small-0c510722.pth", 230, (96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    "Base": ("convnext_base-6075fbad.pth", 232, (128, 256, 512, 1024), (3, 3, 27, 3), 0.5),
    "Large": ("convnext_large-ea097f82.pth", 232, (192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
}
__all__ = [
    "ConvNeXt",
    *(f"convnext_{name.lower()}" for name in _MODELS),
    *(f"ConvNeXt_{name}_Weights" for name in _MODELS),
]


class LayerNorm2d(nn.LayerNorm):
    """LayerNorm over the channels of each pixel."""

    def forward(self, x):
        """(n, c, h, w) gives the same."""
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A convolution channel by channel and two linear layers, scaled, beside a shortcut.

    Args:
        dim: channels.
        layer_scale: what each channel's factor begins with.
        stochastic_depth_prob: of dropping the block.
        norm_layer: the normalisation; LayerNorm by default.
    """

    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        norm = norm_layer or functools.partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, 7, padding=3, groups=dim),
            Permute([0, 2, 3, 1]),
            norm(dim),
            nn.Linear(dim, 4 * dim),
            nn.GELU(),
            nn.Linear(4 * dim, dim),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(_C.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        """block(input), scaled, plus the input."""
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


class CNBlockConfig:
    """A stage: its channels, those of the next, and how many blocks it has.

    Args:
        input_channels: of the stage.
        out_channels: of the next one; None for the last.
        num_layers: its blocks.
    """

    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels, self.out_channels = input_channels, out_channels
        self.num_layers = num_layers


class ConvNeXt(nn.Module):
    """Stages of CNBlocks.

    Args:
        block_setting: a list of CNBlockConfig, one for each stage.
        stochastic_depth_prob: of the last block; the first one's is 0.
        layer_scale: what each channel's factor begins with.
        num_classes: outputs of the last layer.
        block: makes a block; CNBlock by default.
        norm_layer: the normalisation between stages; LayerNorm2d by default.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000,
        block=None, norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        block = block or CNBlock
        norm = norm_layer or functools.partial(LayerNorm2d, eps=1e-6)
        first = block_setting[0].input_channels
        layers = [
            Conv2dNormActivation(
                3, first, 4, 4, 0, norm_layer=norm, activation_layer=None, bias=True
            )
        ]
        total, done = sum(stage.num_layers for stage in block_setting), 0
        for stage in block_setting:
            blocks = []
            for _ in range(stage.num_layers):
                probability = stochastic_depth_prob * done / (total - 1.0)
                blocks.append(block(stage.input_channels, layer_scale, probability))
                done += 1
            layers.append(nn.Sequential(*blocks))
            if stage.out_channels is not None:
                layers.append(
                    nn.Sequential(
                        norm(stage.input_channels),
                        nn.Conv2d(stage.input_channels, stage.out_channels, 2, 2),
                    )
                )
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm(last), nn.Flatten(1), nn.Linear(last, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(self.avgpool(self.features(x)))


def _make(name):
    file, resize, widths, counts, depth = _MODELS[name]
    weights = published(f"ConvNeXt_{name}_Weights", __name__, IMAGENET1K_V1=(file, 224, resize))

    def convnext(**config):
        stages = zip(widths, (*widths[1:], None), counts, strict=True)
        depth_prob = config.pop("stochastic_depth_prob", depth)
        return ConvNeXt([CNBlockConfig(*stage) for stage in stages], depth_prob, **config)

    convnext.__name__ = convnext.__qualname__ = f"convnext_{name.lower()}"
    convnext.__doc__ = f"ConvNeXt, {name.lower()}."
    return weights, with_weights(weights)(convnext)


ConvNeXt_Tiny_Weights, convnext_tiny = _make("Tiny")
ConvNeXt_Small_Weights, convnext_small = _make("Small")
ConvNeXt_Base_Weights, convnext_base = _make("Base")
ConvNeXt_Large_Weights, convnext_large = _make("Large")
