"""MobileNet V2 (Sandler et al., 2018)."""

from ... import flatten, nn
from ...nn import functional as F
from ..ops.misc import Conv2dNormActivation
from ._blocks import start_convolutions
from ._weights import published, with_weights

__all__ = ["MobileNetV2", "MobileNet_V2_Weights", "mobilenet_v2"]
MobileNet_V2_Weights = published(
    "MobileNet_V2_Weights",
    __name__,
    IMAGENET1K_V1=("mobilenet_v2-b0353104.pth",),
    IMAGENET1K_V2=("mobilenet_v2-7ebf99e0.pth", 224, 232),
)
# expansion, channels, blocks, stride of the first one
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _divisible(channels, by=8):
    """The nearest multiple, but never more than a tenth below."""
    near = max(by, int(channels + by / 2) // by * by)
    return near + by if near < 0.9 * channels else near


class InvertedResidual(nn.Module):
    """Widened, convolved channel by channel, narrowed; with a shortcut where sizes allow."""

    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm = norm_layer or nn.BatchNorm2d
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        width = round(inp * expand_ratio)
        layers = []
        if expand_ratio != 1:
            layers.append(
                Conv2dNormActivation(inp, width, 1, norm_layer=norm, activation_layer=nn.ReLU6)
            )
        layers.append(Conv2dNormActivation(width, width, 3, stride, None, width, norm, nn.ReLU6))
        self.conv = nn.Sequential(*layers, nn.Conv2d(width, oup, 1, bias=False), norm(oup))
        self.out_channels = oup

    def forward(self, x):
        """conv(x), plus x where there is a shortcut."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """Inverted residual blocks for small machines.

    Args:
        num_classes: outputs of the last layer.
        width_mult: all widths are multiplied with it.
        inverted_residual_setting: (expansion, channels, blocks, stride) of each stage.
        round_nearest: widths are multiples of it.
        norm_layer: the normalisation; BatchNorm2d by default.
        dropout: probability before the last layer.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8,
        norm_layer=None, dropout=0.2,
    ):  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        inputs = _divisible(32 * width_mult, round_nearest)
        self.last_channel = _divisible(1280 * max(1.0, width_mult), round_nearest)
        layers = [Conv2dNormActivation(3, inputs, 3, 2, norm_layer=norm, activation_layer=nn.ReLU6)]
        for expansion, channels, blocks, stride in inverted_residual_setting or _STAGES:
            outputs = _divisible(channels * width_mult, round_nearest)
            for i in range(blocks):
                step = stride if i == 0 else 1
                layers.append(InvertedResidual(inputs, outputs, step, expansion, norm))
                inputs = outputs
        last = Conv2dNormActivation(
            inputs, self.last_channel, 1, norm_layer=norm, activation_layer=nn.ReLU6
        )
        self.features = nn.Sequential(*layers, last)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(self.last_channel, num_classes)
        )
        start_convolutions(self, linear_std=0.01)

    def forward(self, x):
        """The logits of the classes."""
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(flatten(x, 1))


@with_weights(MobileNet_V2_Weights)
def mobilenet_v2(**config):
    """MobileNet V2."""
    return MobileNetV2(**config)
