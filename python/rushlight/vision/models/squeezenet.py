"""SqueezeNet (Iandola et al., 2016)."""

from ... import cat, flatten, nn
from ...nn import init
from ._weights import published, with_weights

__all__ = [
    "SqueezeNet", "SqueezeNet1_0_Weights", "SqueezeNet1_1_Weights", "squeezenet1_0",
    "squeezenet1_1",
]  # fmt: skip
SqueezeNet1_0_Weights = published(
    "SqueezeNet1_0_Weights", __name__, IMAGENET1K_V1=("squeezenet1_0-b66bff10.pth",)
)
SqueezeNet1_1_Weights = published(
    "SqueezeNet1_1_Weights", __name__, IMAGENET1K_V1=("squeezenet1_1-b8a52dc0.pth",)
)


class Fire(nn.Module):
    """A 1x1 convolution to few channels, then 1x1 and 3x3 ones side by side."""

    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, 1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, 1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        """Both results, one after the other along the channels."""
        x = self.squeeze_activation(self.squeeze(x))
        small = self.expand1x1_activation(self.expand1x1(x))
        return cat([small, self.expand3x3_activation(self.expand3x3(x))], 1)


def _fire(inputs, width):
    return Fire(inputs, width, 4 * width, 4 * width)


def _pool():
    return nn.MaxPool2d(3, 2, ceil_mode=True)


class SqueezeNet(nn.Module):
    """Fire modules, and convolution and averaging in place of linear layers.

    Args:
        version: "1_0" or "1_1".
        num_classes: outputs.
        dropout: probability before the last convolution.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        self.num_classes = num_classes
        if version == "1_0":
            self.features = nn.Sequential(
                nn.Conv2d(3, 96, 7, 2), nn.ReLU(inplace=True), _pool(),
                _fire(96, 16), _fire(128, 16), _fire(128, 32), _pool(),
                _fire(256, 32), _fire(256, 48), _fire(384, 48), _fire(384, 64), _pool(),
                _fire(512, 64),
            )  # fmt: skip
        elif version == "1_1":
            self.features = nn.Sequential(
                nn.Conv2d(3, 64, 3, 2), nn.ReLU(inplace=True), _pool(),
                _fire(64, 16), _fire(128, 16), _pool(),
                _fire(128, 32), _fire(256, 32), _pool(),
                _fire(256, 48), _fire(384, 48), _fire(384, 64), _fire(512, 64),
            )  # fmt: skip
        else:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        last = nn.Conv2d(512, num_classes, 1)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    init.normal_(module.weight, 0.0, 0.01)
                else:
                    init.kaiming_uniform_(module.weight)
                init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        return flatten(self.classifier(self.features(x)), 1)


@with_weights(SqueezeNet1_0_Weights)
def squeezenet1_0(**config):
    """SqueezeNet as first published."""
    return SqueezeNet("1_0", **config)


@with_weights(SqueezeNet1_1_Weights)
def squeezenet1_1(**config):
    """SqueezeNet with 2.4 times less computation."""
    return SqueezeNet("1_1", **config)
