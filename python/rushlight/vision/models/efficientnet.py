"""EfficientNet (Tan and Le, 2019), B0 to B7, and V2 (Tan and Le, 2021), S, M and L."""

import math
from functools import partial

from ... import flatten, nn
from ...nn import init
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from ._weights import BICUBIC, published, with_weights

# file, crop, resize, width, depth, dropout, eps and momentum of the normalisations
_OLD_NORM, _NEW_NORM = (1e-5, 0.1), (1e-3, 0.01)
_MODELS = {
    "B0": ("efficientnet_b0_rwightman-7f5810bc.pth", 224, 256, 1.0, 1.0, 0.2, _OLD_NORM),
    "B1": ("efficientnet_b1_rwightman-bac287d4.pth", 240, 256, 1.0, 1.1, 0.2, _OLD_NORM),
    "B2": ("efficientnet_b2_rwightman-c35c1473.pth", 288, 288, 1.1, 1.2, 0.3, _OLD_NORM),
    "B3": ("efficientnet_b3_rwightman-b3899882.pth", 300, 320, 1.2, 1.4, 0.3, _OLD_NORM),
    "B4": ("efficientnet_b4_rwightman-23ab8bcd.pth", 380, 384, 1.4, 1.8, 0.4, _OLD_NORM),
    "B5": ("efficientnet_b5_lukemelas-1a07897c.pth", 456, 456, 1.6, 2.2, 0.4, _NEW_NORM),
    "B6": ("efficientnet_b6_lukemelas-24a108a5.pth", 528, 528, 1.8, 2.6, 0.5, _NEW_NORM),
    "B7": ("efficientnet_b7_lukemelas-c5b4e57e.pth", 600, 600, 2.0, 3.1, 0.5, _NEW_NORM),
}
# expansion, kernel, stride, inputs, outputs, blocks of B0
_STAGES = (
    (1, 3, 1, 32, 16, 1),
    (6, 3, 2, 16, 24, 2),
    (6, 5, 2, 24, 40, 2),
    (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4),
    (6, 3, 1, 192, 320, 1),
)
# file, crop, resize and the rest, dropout; then the stages of V2: outputs and blocks
_HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
_V2 = {
    "V2_S": (
        ("efficientnet_v2_s-dd5fe13b.pth", 384, 384), 0.2,
        ((24, 2), (48, 4), (64, 4), (128, 6), (160, 9), (256, 15)),
    ),
    "V2_M": (
        ("efficientnet_v2_m-dc08266a.pth", 480, 480), 0.3,
        ((24, 3), (48, 5), (80, 5), (160, 7), (176, 14), (304, 18), (512, 5)),
    ),
    "V2_L": (
        ("efficientnet_v2_l-59c71312.pth", 480, 480, BICUBIC, *_HALF), 0.4,
        ((32, 4), (64, 7), (96, 7), (192, 10), (224, 19), (384, 25), (640, 7)),
    ),
}  # fmt: skip
# fused, expansion, stride of each of them
_V2_STAGES = ((True, 1, 1), (True, 4, 2), (True, 4, 2), (False, 4, 2), (False, 6, 1),
              (False, 6, 2), (False, 6, 1))  # fmt: skip
__all__ = [
    "EfficientNet",
    *(f"efficientnet_{name.lower()}" for name in (*_MODELS, *_V2)),
    *(f"EfficientNet_{name}_Weights" for name in (*_MODELS, *_V2)),
]


def _divisible(channels, by=8):
    near = max(by, int(channels + by / 2) // by * by)
    return near + by if near < 0.9 * channels else near


class MBConvConfig:
    """A stage of MBConv blocks.

    Args:
        expand_ratio: by how much a block widens its input.
        kernel: size of its convolution.
        stride: of the first block.
        input_channels: of the first block.
        out_channels: of all blocks.
        num_layers: blocks.
        width_mult: factor of the channels.
        depth_mult: factor of the blocks.
        block: their class.
    """

    def __init__(
        self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers,
        width_mult=1.0, depth_mult=1.0, block=None,
    ):  # fmt: skip
        self.expand_ratio, self.kernel, self.stride = expand_ratio, kernel, stride
        self.input_channels = _divisible(input_channels * width_mult)
        self.out_channels = _divisible(out_channels * width_mult)
        self.num_layers = math.ceil(num_layers * depth_mult)
        self.block = block or MBConv


class FusedMBConvConfig(MBConvConfig):
    """A stage of FusedMBConv blocks: as MBConvConfig, without factors."""

    def __init__(
        self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block=None
    ):
        super().__init__(
            expand_ratio, kernel, stride, input_channels, out_channels, num_layers,
            block=block or FusedMBConv,
        )  # fmt: skip


class _Block(nn.Module):
    # What both blocks do: their layers, and a shortcut where the sizes stay.

    def __init__(self, cnf, stochastic_depth_prob, norm_layer):
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        width = _divisible(cnf.input_channels * cnf.expand_ratio)
        self.block = nn.Sequential(*self._layers(cnf, width, norm_layer))
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, x):
        """block(x), plus x where there is a shortcut."""
        out = self.block(x)
        return self.stochastic_depth(out) + x if self.use_res_connect else out


class MBConv(_Block):
    """Widened, convolved channel by channel, weighed, narrowed; with a shortcut where possible."""

    def _layers(self, cnf, width, norm):
        inputs = cnf.input_channels
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        return [
            *([conv(inputs, width, 1)] if width != inputs else []),
            conv(width, width, cnf.kernel, cnf.stride, groups=width),
            SqueezeExcitation(width, max(1, inputs // 4), partial(nn.SiLU, inplace=True)),
            conv(width, cnf.out_channels, 1, activation_layer=None),
        ]


class FusedMBConv(_Block):
    """Widened by a convolution of all channels, narrowed; with a shortcut where possible."""

    def _layers(self, cnf, width, norm):
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        first = (cnf.input_channels, cnf.kernel, cnf.stride)
        if width == cnf.input_channels:
            return [conv(first[0], cnf.out_channels, *first[1:])]
        return [
            conv(first[0], width, *first[1:]),
            conv(width, cnf.out_channels, 1, activation_layer=None),
        ]


class EfficientNet(nn.Module):
    """Stages of MBConv and FusedMBConv blocks.

    Args:
        inverted_residual_setting: the stages, each an MBConvConfig or a FusedMBConvConfig.
        dropout: probability before the last layer.
        stochastic_depth_prob: of the last block; the first one's is 0.
        num_classes: outputs of the last layer.
        norm_layer: the normalisation; BatchNorm2d by default.
        last_channel: inputs of the last layer; four times those of the last block by default.

    Shape: (n, 3, h, w) gives (n, num_classes).

    Raises:
        ValueError: if there is no stage.
        TypeError: if they are no configurations.
    """

    def __init__(
        self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000,
        norm_layer=None, last_channel=None,
    ):  # fmt: skip
        super().__init__()
        stages = inverted_residual_setting
        if not stages:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(stage, MBConvConfig) for stage in stages):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm = norm_layer or nn.BatchNorm2d
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        layers = [conv(3, stages[0].input_channels, 3, 2)]
        total = sum(stage.num_layers for stage in stages)
        done = 0
        for stage in stages:
            first = (stage.expand_ratio, stage.kernel, stage.stride, stage.input_channels)
            later = (stage.expand_ratio, stage.kernel, 1, stage.out_channels)
            blocks = []
            for i in range(stage.num_layers):
                cnf = MBConvConfig(*(later if i else first), stage.out_channels, 1)
                blocks.append(stage.block(cnf, stochastic_depth_prob * done / total, norm))
                done += 1
            layers.append(nn.Sequential(*blocks))
        outputs = stages[-1].out_channels
        last = 4 * outputs if last_channel is None else last_channel
        layers.append(conv(outputs, last, 1))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout, inplace=True), nn.Linear(last, num_classes)
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out")
                if module.bias is not None:
                    init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                limit = 1.0 / math.sqrt(module.out_features)
                init.uniform_(module.weight, -limit, limit)
                init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


def _model(name, versions, stages, dropout, eps, momentum, last_channel=None):
    # The enum of the weights and the function of a model.
    weights = published(f"EfficientNet_{name}_Weights", __name__, **versions)

    def efficientnet(**config):
        norm = partial(nn.BatchNorm2d, eps=eps, momentum=momentum)
        return EfficientNet(
            stages,
            **{"dropout": dropout, "norm_layer": norm, "last_channel": last_channel, **config},
        )

    efficientnet.__name__ = efficientnet.__qualname__ = f"efficientnet_{name.lower()}"
    efficientnet.__doc__ = f"EfficientNet {name}."
    return weights, with_weights(weights)(efficientnet)


def _make(name):
    file, crop, resize, width, depth, dropout, norm = _MODELS[name]
    stages = [MBConvConfig(*stage, width, depth) for stage in _STAGES]
    versions = {"IMAGENET1K_V1": (file, crop, resize, BICUBIC)}
    if name == "B1":
        versions["IMAGENET1K_V2"] = ("efficientnet_b1-c27df63c.pth", 240, 255)
    return _model(name, versions, stages, dropout, *norm)


def _make_v2(name):
    file, dropout, sizes = _V2[name]
    inputs, stages = sizes[0][0], []
    for (fused, expansion, stride), (outputs, count) in zip(_V2_STAGES, sizes, strict=False):
        config = FusedMBConvConfig if fused else MBConvConfig
        stages.append(config(expansion, 3, stride, inputs, outputs, count))
        inputs = outputs
    return _model(name, {"IMAGENET1K_V1": file}, stages, dropout, 1e-3, 0.1, 1280)


EfficientNet_B0_Weights, efficientnet_b0 = _make("B0")
EfficientNet_B1_Weights, efficientnet_b1 = _make("B1")
EfficientNet_B2_Weights, efficientnet_b2 = _make("B2")
EfficientNet_B3_Weights, efficientnet_b3 = _make("B3")
EfficientNet_B4_Weights, efficientnet_b4 = _make("B4")
EfficientNet_B5_Weights, efficientnet_b5 = _make("B5")
EfficientNet_B6_Weights, efficientnet_b6 = _make("B6")
EfficientNet_B7_Weights, efficientnet_b7 = _make("B7")
EfficientNet_V2_S_Weights, efficientnet_v2_s = _make_v2("V2_S")
EfficientNet_V2_M_Weights, efficientnet_v2_m = _make_v2("V2_M")
EfficientNet_V2_L_Weights, efficientnet_v2_l = _make_v2("V2_L")
