"""ShuffleNet V2 (Ma et al., 2018)."""

from ... import cat, nn
from ._weights import published, with_weights

# file and its sizes, channels of the first layer, of the stages and of the last layer
_MODELS = {
    "x0_5": (("shufflenetv2_x0.5-f707e7126e.pth",), (24, 48, 96, 192, 1024)),
    "x1_0": (("shufflenetv2_x1-5666bf0f80.pth",), (24, 116, 232, 464, 1024)),
    "x1_5": (("shufflenetv2_x1_5-3c479a10.pth", 224, 232), (24, 176, 352, 704, 1024)),
    "x2_0": (("shufflenetv2_x2_0-8be3c8ee.pth", 224, 232), (24, 244, 488, 976, 2048)),
}
__all__ = [
    "ShuffleNetV2",
    *(f"shufflenet_v2_{name}" for name in _MODELS),
    *(f"ShuffleNet_V2_{name.upper()}_Weights" for name in _MODELS),
]


def channel_shuffle(x, groups):
    """The channels of (n, c, h, w) such that those of each group lie apart.

    Args:
        x: (n, c, h, w).
        groups: how many there are.
    """
    n, c, h, w = x.shape
    return x.reshape(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


def _by_channel(channels, stride):
    return nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)


class InvertedResidual(nn.Module):
    """Half of the channels pass by, or are made smaller, beside the convolutions of the others.

    Args:
        inp: channels of the input.
        oup: channels of the result.
        stride: 1 to 3.
    """

    def __init__(self, inp, oup, stride):
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError("illegal stride value")
        self.stride, half = stride, oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(
                f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. If "
                "stride == 1 then inp should be equal to oup // 2 << 1."
            )
        self.branch1 = nn.Sequential()
        if stride > 1:
            self.branch1 = nn.Sequential(
                _by_channel(inp, stride),
                nn.BatchNorm2d(inp),
                nn.Conv2d(inp, half, 1, bias=False),
                nn.BatchNorm2d(half),
                nn.ReLU(inplace=True),
            )
        self.branch2 = nn.Sequential(
            nn.Conv2d(inp if stride > 1 else half, half, 1, bias=False),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
            _by_channel(half, stride),
            nn.BatchNorm2d(half),
            nn.Conv2d(half, half, 1, bias=False),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        """Both halves, shuffled."""
        if self.stride == 1:
            passing, rest = x.chunk(2, 1)
            return channel_shuffle(cat((passing, self.branch2(rest)), 1), 2)
        return channel_shuffle(cat((self.branch1(x), self.branch2(x)), 1), 2)


class ShuffleNetV2(nn.Module):
    """Three stages of blocks whose halves are shuffled.

    Args:
        stages_repeats: blocks of each stage.
        stages_out_channels: of the first layer, of the stages, of the last layer.
        num_classes: outputs of the last layer.
        inverted_residual: makes a block.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, stages_repeats, stages_out_channels, num_classes=1000,
        inverted_residual=InvertedResidual,
    ):  # fmt: skip
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        first, *widths, last = stages_out_channels
        self.conv1 = nn.Sequential(
            nn.Conv2d(3, first, 3, 2, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU(inplace=True)
        )
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        stages, inputs = [], first
        for count, outputs in zip(stages_repeats, widths, strict=True):
            blocks = [inverted_residual(inputs, outputs, 2)]
            blocks += [inverted_residual(outputs, outputs, 1) for _ in range(count - 1)]
            stages.append(nn.Sequential(*blocks))
            inputs = outputs
        self.stage2, self.stage3, self.stage4 = stages
        self.conv5 = nn.Sequential(
            nn.Conv2d(inputs, last, 1, bias=False), nn.BatchNorm2d(last), nn.ReLU(inplace=True)
        )
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x):
        """The logits of the classes."""
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        return self.fc(x.mean([2, 3]))


def _make(name):
    file, widths = _MODELS[name]
    weights = published(f"ShuffleNet_V2_{name.upper()}_Weights", __name__, IMAGENET1K_V1=file)

    def shufflenet(**config):
        return ShuffleNetV2([4, 8, 4], list(widths), **config)

    shufflenet.__name__ = shufflenet.__qualname__ = f"shufflenet_v2_{name}"
    shufflenet.__doc__ = f"ShuffleNet V2, {name[1:].replace('_', '.')} times as wide."
    return weights, with_weights(weights)(shufflenet)


ShuffleNet_V2_X0_5_Weights, shufflenet_v2_x0_5 = _make("x0_5")
ShuffleNet_V2_X1_0_Weights, shufflenet_v2_x1_0 = _make("x1_0")
ShuffleNet_V2_X1_5_Weights, shufflenet_v2_x1_5 = _make("x1_5")
ShuffleNet_V2_X2_0_Weights, shufflenet_v2_x2_0 = _make("x2_0")
