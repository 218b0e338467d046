"""EfficientNet (Tan and Le, 2019), B0 to B7."""

import math
from functools import partial

from ... import flatten, nn
from ...nn import init
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from ._weights import published, with_weights

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
__all__ = [
    "EfficientNet",
    *(f"efficientnet_{name.lower()}" for name in _MODELS),
    *(f"EfficientNet_{name}_Weights" for name in _MODELS),
]


def _divisible(channels, by=8):
    near = max(by, int(channels + by / 2) // by * by)
    return near + by if near < 0.9 * channels else near


class MBConv(nn.Module):
    """Widened, convolved channel by channel, weighed, narrowed; with a shortcut where possible."""

    def __init__(self, expansion, kernel, stride, inputs, outputs, depth_prob, norm):
        super().__init__()
        self.use_res_connect = stride == 1 and inputs == outputs
        width = _divisible(inputs * expansion)
        layers = []
        if width != inputs:
            layers.append(
                Conv2dNormActivation(inputs, width, 1, norm_layer=norm, activation_layer=nn.SiLU)
            )
        layers += [
            Conv2dNormActivation(width, width, kernel, stride, None, width, norm, nn.SiLU),
            SqueezeExcitation(width, max(1, inputs // 4), partial(nn.SiLU, inplace=True)),
            Conv2dNormActivation(width, outputs, 1, norm_layer=norm, activation_layer=None),
        ]
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(depth_prob, "row")
        self.out_channels = outputs

    def forward(self, x):
        """block(x), plus x where there is a shortcut."""
        out = self.block(x)
        return self.stochastic_depth(out) + x if self.use_res_connect else out


class EfficientNet(nn.Module):
    """MBConv blocks, wider and deeper from B0 to B7.

    Args:
        width_mult: widths in those of B0.
        depth_mult: blocks of a stage in those of B0.
        dropout: probability before the last layer.
        stochastic_depth_prob: of the last block; the first one's is 0.
        num_classes: outputs of the last layer.
        norm_layer: the normalisation; BatchNorm2d by default.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, width_mult=1.0, depth_mult=1.0, dropout=0.2, stochastic_depth_prob=0.2,
        num_classes=1000, norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        counts = [math.ceil(stage[-1] * depth_mult) for stage in _STAGES]
        first = _divisible(_STAGES[0][3] * width_mult)
        layers = [Conv2dNormActivation(3, first, 3, 2, norm_layer=norm, activation_layer=nn.SiLU)]
        done = 0
        for (expansion, kernel, stride, inputs, outputs, _), count in zip(
            _STAGES, counts, strict=True
        ):
            inputs, outputs = _divisible(inputs * width_mult), _divisible(outputs * width_mult)
            blocks = []
            for i in range(count):
                probability = stochastic_depth_prob * done / sum(counts)
                step, source = (stride, inputs) if i == 0 else (1, outputs)
                blocks.append(MBConv(expansion, kernel, step, source, outputs, probability, norm))
                done += 1
            layers.append(nn.Sequential(*blocks))
        last = 4 * outputs
        layers.append(
            Conv2dNormActivation(outputs, last, 1, norm_layer=norm, activation_layer=nn.SiLU)
        )
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


def _make(name):
    file, crop, resize, width, depth, dropout, (eps, momentum) = _MODELS[name]
    weights = published(
        f"EfficientNet_{name}_Weights", __name__, IMAGENET1K_V1=(file, crop, resize)
    )

    def efficientnet(**config):
        norm = partial(nn.BatchNorm2d, eps=eps, momentum=momentum)
        return EfficientNet(**{"dropout": dropout, "norm_layer": norm, **config},
                            width_mult=width, depth_mult=depth)  # fmt: skip

    efficientnet.__name__ = efficientnet.__qualname__ = f"efficientnet_{name.lower()}"
    efficientnet.__doc__ = f"EfficientNet {name}."
    return weights, with_weights(weights)(efficientnet)


EfficientNet_B0_Weights, efficientnet_b0 = _make("B0")
EfficientNet_B1_Weights, efficientnet_b1 = _make("B1")
EfficientNet_B2_Weights, efficientnet_b2 = _make("B2")
EfficientNet_B3_Weights, efficientnet_b3 = _make("B3")
EfficientNet_B4_Weights, efficientnet_b4 = _make("B4")
EfficientNet_B5_Weights, efficientnet_b5 = _make("B5")
EfficientNet_B6_Weights, efficientnet_b6 = _make("B6")
EfficientNet_B7_Weights, efficientnet_b7 = _make("B7")
