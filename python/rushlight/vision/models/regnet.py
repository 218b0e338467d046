"""RegNet (Radosavovic et al., Designing Network Design Spaces, 2020)."""

import math
from collections import OrderedDict
from functools import partial

from ... import nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._weights import published, with_weights

# name: (files, depth, w_0, w_a, w_m, width of a group); those of Y weigh channels
_MODELS = {
    "Y_400MF": ("c65dace8 e6988f5f", 16, 48, 27.89, 2.09, 8),
    "Y_800MF": ("1b27b58c 58fc7688", 14, 56, 38.84, 2.4, 16),
    "Y_1_6GF": ("b11a554e 0d7bc02a", 27, 48, 20.71, 2.65, 24),
    "Y_3_2GF": ("b5a9779c 9180c971", 21, 80, 42.63, 2.66, 24),
    "Y_8GF": ("d0d0e4a8 dc2b1b54", 17, 192, 76.82, 2.19, 56),
    "Y_16GF": ("9e6ed7dd 3e4a00f9 43afe44d f3ec0043", 18, 200, 106.23, 2.48, 112),
    "Y_32GF": ("4dee3f7a 8db6d4b5 04fdfa75 e1583746", 20, 232, 115.89, 2.53, 232),
    "Y_128GF": ("  c8ce3e52 cbe8ce12", 27, 456, 160.83, 2.52, 264),
    "X_400MF": ("adf1edd5 62229a5f", 22, 24, 24.48, 2.54, 16),
    "X_800MF": ("ad17e45c 94a99ebd", 16, 56, 35.73, 2.28, 16),
    "X_1_6GF": ("e3633e7f a12f2b72", 18, 80, 34.01, 2.25, 24),
    "X_3_2GF": ("f342aeae 7071aa85", 25, 88, 26.31, 2.25, 48),
    "X_8GF": ("03ceed89 2b70d774", 23, 80, 49.56, 2.88, 120),
    "X_16GF": ("2007eb11 ba3796d7", 22, 216, 55.59, 2.1, 128),
    "X_32GF": ("9d47f8d0 6eb8fdc6", 23, 320, 69.86, 2.0, 168),
}
_VERSIONS = (
    ("IMAGENET1K_V1", "-", 224, 256),
    ("IMAGENET1K_V2", "-", 224, 232),
    ("IMAGENET1K_SWAG_E2E_V1", "_swag-", 384, 384),
    ("IMAGENET1K_SWAG_LINEAR_V1", "_lc_swag-", 224, 224),
)
__all__ = [
    "RegNet",
    *(f"regnet_{name.lower()}" for name in _MODELS),
    *(f"RegNet_{name}_Weights" for name in _MODELS),
]


def _divisible(channels, by=8):
    near = max(by, int(channels + by / 2) // by * by)
    return near + by if near < 0.9 * channels else near


def _stages(depth, w_0, w_a, w_m, group, ratio=1.0):
    # (channels, blocks, width of a group) of each stage: widths grow linearly, are rounded to
    # w_0 * w_m ** k, then to multiples of 8, and of a group.
    if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8:
        raise ValueError("Invalid RegNet settings")
    widths = []
    for i in range(depth):
        power = round(math.log((w_0 + i * w_a) / w_0) / math.log(w_m))
        widths.append(int(round(w_0 * w_m**power / 8) * 8))
    found = []
    for width in sorted(set(widths), key=widths.index):
        inside = int(width * ratio)
        near = min(group, inside)
        found.append((int(_divisible(inside, near) / ratio), widths.count(width), near))
    return found


def _bottleneck(inputs, outputs, stride, norm, activation, group, ratio, se_ratio):
    width = round(outputs * ratio)
    options = {"norm_layer": norm, "activation_layer": activation}
    layers = {
        "a": Conv2dNormActivation(inputs, width, 1, 1, **options),
        "b": Conv2dNormActivation(width, width, 3, stride, groups=width // group, **options),
    }
    if se_ratio:
        squeeze = round(se_ratio * inputs)
        layers["se"] = SqueezeExcitation(width, squeeze, activation=activation)
    layers["c"] = Conv2dNormActivation(width, outputs, 1, 1, norm_layer=norm, activation_layer=None)
    return nn.Sequential(OrderedDict(layers))


class ResBottleneckBlock(nn.Module):
    """A 1x1, a 3x3 in groups and a 1x1 convolution beside a shortcut."""

    def __init__(self, inputs, outputs, stride, norm, activation, group, ratio, se_ratio):
        super().__init__()
        self.proj = None
        if inputs != outputs or stride != 1:
            self.proj = Conv2dNormActivation(
                inputs, outputs, 1, stride, norm_layer=norm, activation_layer=None
            )
        self.f = _bottleneck(inputs, outputs, stride, norm, activation, group, ratio, se_ratio)
        self.activation = activation(inplace=True)

    def forward(self, x):
        """activation(convolutions(x) + shortcut(x))."""
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class RegNet(nn.Module):
    """Stages of blocks whose widths grow by one rule.

    Args:
        stages: (channels, blocks, width of a group) of each.
        se_ratio: channels of squeeze and excitation in those of a block's input; None: none.
        num_classes: outputs of the last layer.
        stem_width: channels of the first layer.
        bottleneck: channels inside a block in those of its result.
        norm_layer: the normalisation; BatchNorm2d by default.
        activation: makes an activation; ReLU by default.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, stages, se_ratio=None, num_classes=1000, stem_width=32, bottleneck=1.0,
        norm_layer=None, activation=None,
    ):  # fmt: skip
        super().__init__()
        norm, activation = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        self.stem = Conv2dNormActivation(
            3, stem_width, 3, 2, norm_layer=norm, activation_layer=activation
        )
        inputs, parts = stem_width, OrderedDict()
        for i, (outputs, count, group) in enumerate(stages, 1):
            common = (norm, activation, group, bottleneck, se_ratio)
            blocks = OrderedDict()
            for k in range(count):
                block = ResBottleneckBlock(inputs, outputs, 1 if k else 2, *common)
                blocks[f"block{i}-{k}"] = block
                inputs = outputs
            parts[f"block{i}"] = nn.Sequential(blocks)
        self.trunk_output = nn.Sequential(parts)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                fan = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
                nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / fan))
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = self.trunk_output(self.stem(x))
        return self.fc(self.avgpool(x).flatten(1))


def _make(name):
    hashes, *shape = _MODELS[name]
    base = f"regnet_{name.lower()}"
    versions = {
        version: (f"{base}{infix}{end}.pth", crop, resize)
        for (version, infix, crop, resize), end in zip(_VERSIONS, hashes.split(" "), strict=False)
        if end
    }
    best = min(1, len(versions) - 1) if "IMAGENET1K_V2" in versions else 0
    weights = published(f"RegNet_{name}_Weights", __name__, best=best, **versions)

    def regnet(**config):
        norm = partial(nn.BatchNorm2d, eps=1e-5, momentum=0.1)
        se_ratio = 0.25 if name[0] == "Y" else None
        return RegNet(_stages(*shape), se_ratio, **{"norm_layer": norm, **config})

    regnet.__name__ = regnet.__qualname__ = base
    regnet.__doc__ = f"RegNet {name.replace('_', ' ', 1).replace('_', '.')}."
    return weights, with_weights(weights)(regnet)


RegNet_Y_400MF_Weights, regnet_y_400mf = _make("Y_400MF")
RegNet_Y_800MF_Weights, regnet_y_800mf = _make("Y_800MF")
RegNet_Y_1_6GF_Weights, regnet_y_1_6gf = _make("Y_1_6GF")
RegNet_Y_3_2GF_Weights, regnet_y_3_2gf = _make("Y_3_2GF")
RegNet_Y_8GF_Weights, regnet_y_8gf = _make("Y_8GF")
RegNet_Y_16GF_Weights, regnet_y_16gf = _make("Y_16GF")
RegNet_Y_32GF_Weights, regnet_y_32gf = _make("Y_32GF")
RegNet_Y_128GF_Weights, regnet_y_128gf = _make("Y_128GF")
RegNet_X_400MF_Weights, regnet_x_400mf = _make("X_400MF")
RegNet_X_800MF_Weights, regnet_x_800mf = _make("X_800MF")
RegNet_X_1_6GF_Weights, regnet_x_1_6gf = _make("X_1_6GF")
RegNet_X_3_2GF_Weights, regnet_x_3_2gf = _make("X_3_2GF")
RegNet_X_8GF_Weights, regnet_x_8gf = _make("X_8GF")
RegNet_X_16GF_Weights, regnet_x_16gf = _make("X_16GF")
RegNet_X_32GF_Weights, regnet_x_32gf = _make("X_32GF")
