"""MobileNet V3 (Howard et al., 2019)."""

import functools

from ... import flatten, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._blocks import start_convolutions
from ._weights import published, with_weights
from .mobilenetv2 import _divisible

__all__ = [
    "MobileNetV3", "MobileNet_V3_Large_Weights", "MobileNet_V3_Small_Weights",
    "mobilenet_v3_large", "mobilenet_v3_small",
]  # fmt: skip
MobileNet_V3_Large_Weights = published(
    "MobileNet_V3_Large_Weights",
    __name__,
    IMAGENET1K_V1=("mobilenet_v3_large-8738ca79.pth",),
    IMAGENET1K_V2=("mobilenet_v3_large-5c1a4163.pth", 224, 232),
)
MobileNet_V3_Small_Weights = published(
    "MobileNet_V3_Small_Weights", __name__, IMAGENET1K_V1=("mobilenet_v3_small-047dcff4.pth",)
)
# kernel, expanded channels, channels, squeeze and excitation, activation, stride
_LARGE = (
    (3, 16, 16, False, "RE", 1),
    (3, 64, 24, False, "RE", 2),
    (3, 72, 24, False, "RE", 1),
    (5, 72, 40, True, "RE", 2),
    (5, 120, 40, True, "RE", 1),
    (5, 120, 40, True, "RE", 1),
    (3, 240, 80, False, "HS", 2),
    (3, 200, 80, False, "HS", 1),
    (3, 184, 80, False, "HS", 1),
    (3, 184, 80, False, "HS", 1),
    (3, 480, 112, True, "HS", 1),
    (3, 672, 112, True, "HS", 1),
    (5, 672, 160, True, "HS", 2),
    (5, 960, 160, True, "HS", 1),
    (5, 960, 160, True, "HS", 1),
)
_SMALL = (
    (3, 16, 16, True, "RE", 2),
    (3, 72, 24, False, "RE", 2),
    (3, 88, 24, False, "RE", 1),
    (5, 96, 40, True, "HS", 2),
    (5, 240, 40, True, "HS", 1),
    (5, 240, 40, True, "HS", 1),
    (5, 120, 48, True, "HS", 1),
    (5, 144, 48, True, "HS", 1),
    (5, 288, 96, True, "HS", 2),
    (5, 576, 96, True, "HS", 1),
    (5, 576, 96, True, "HS", 1),
)


class InvertedResidualConfig:
    """What one block is like.

    Args:
        input_channels: of the block.
        kernel: of the convolution channel by channel.
        expanded_channels: inside the block.
        out_channels: of the result.
        use_se: whether channels are scaled by squeeze and excitation.
        activation: "RE" for ReLU, "HS" for Hardswish.
        stride: of the convolution channel by channel.
        dilation: of that convolution, which then has stride 1.
        width_mult: all channels are multiplied with it.
    """

    def __init__(
        self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride,
        dilation, width_mult,
    ):  # fmt: skip
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs = use_se, activation == "HS"
        self.stride, self.dilation = stride, dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        """The channels times width_mult, a multiple of 8."""
        return _divisible(channels * width_mult)


_SCALED = functools.partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)


class InvertedResidual(nn.Module):
    """Widened, convolved channel by channel, scaled, narrowed; with a shortcut where sizes allow.

    Args:
        cnf: an InvertedResidualConfig.
        norm_layer: makes a normalisation.
        se_layer: makes the squeeze and excitation.
    """

    def __init__(
        self,
        cnf,
        norm_layer,
        se_layer=_SCALED,
    ):
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError("illegal stride value")
        width = cnf.expanded_channels
        make = functools.partial(
            Conv2dNormActivation,
            norm_layer=norm_layer,
            activation_layer=nn.Hardswish if cnf.use_hs else nn.ReLU,
        )
        layers = [make(cnf.input_channels, width, 1)] if width != cnf.input_channels else []
        stride = 1 if cnf.dilation > 1 else cnf.stride
        layers.append(
            make(width, width, cnf.kernel, stride, groups=width, dilation=cnf.dilation)
        )  # fmt: skip
        if cnf.use_se:
            layers.append(se_layer(width, _divisible(width // 4)))
        layers.append(
            Conv2dNormActivation(
                width, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None
            )
        )
        self.block = nn.Sequential(*layers)
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1

    def forward(self, input):
        """block(input), plus the input where there is a shortcut."""
        found = self.block(input)
        return found + input if self.use_res_connect else found


class MobileNetV3(nn.Module):
    """Inverted residual blocks with squeeze and excitation.

    Args:
        inverted_residual_setting: a list of InvertedResidualConfig, one for each block.
        last_channel: between the last two layers.
        num_classes: outputs of the last layer.
        block: makes a block; InvertedResidual by default.
        norm_layer: the normalisation; BatchNorm2d by default.
        dropout: probability before the last layer.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, inverted_residual_setting, last_channel, num_classes=1000, block=None,
        norm_layer=None, dropout=0.2,
    ):  # fmt: skip
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(inverted_residual_setting, list | tuple) or not all(
            isinstance(cnf, InvertedResidualConfig) for cnf in inverted_residual_setting
        ):
            raise TypeError(
                "The inverted_residual_setting should be List[InvertedResidualConfig]"
            )  # fmt: skip
        block = block or InvertedResidual
        norm = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        make = functools.partial(
            Conv2dNormActivation, norm_layer=norm, activation_layer=nn.Hardswish
        )  # fmt: skip
        outputs = inverted_residual_setting[-1].out_channels
        self.features = nn.Sequential(
            make(3, inverted_residual_setting[0].input_channels, 3, 2),
            *(block(cnf, norm) for cnf in inverted_residual_setting),
            make(outputs, 6 * outputs, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * outputs, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        start_convolutions(self, linear_std=0.01)

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


def _settings(stages, last, width_mult=1.0, reduced_tail=False, dilated=False):
    # The blocks, of which the last three may be half as wide and may dilate.
    inputs, made = 16, []
    for i, (kernel, width, outputs, se, activation, stride) in enumerate(stages):
        tail = i >= len(stages) - 3
        half = 2 if reduced_tail and tail else 1
        width //= half if i > len(stages) - 3 else 1
        step = 2 if dilated and tail else 1
        made.append(
            InvertedResidualConfig(inputs, kernel, width, outputs // half, se, activation, stride,
                                   step, width_mult)
        )  # fmt: skip
        inputs = outputs // half
    last //= 2 if reduced_tail else 1
    return made, InvertedResidualConfig.adjust_channels(last, width_mult)


def _network(stages, last, config):
    names = ("width_mult", "reduced_tail", "dilated")
    shape = {name: config.pop(name) for name in names if name in config}
    return MobileNetV3(*_settings(stages, last, **shape), **config)


@with_weights(MobileNet_V3_Large_Weights)
def mobilenet_v3_large(**config):
    """MobileNet V3, the large one."""
    return _network(_LARGE, 1280, config)


@with_weights(MobileNet_V3_Small_Weights)
def mobilenet_v3_small(**config):
    """MobileNet V3, the small one."""
    return _network(_SMALL, 1024, config)
