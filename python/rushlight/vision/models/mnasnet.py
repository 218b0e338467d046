"""MNASNet (Tan et al., Platform-Aware Neural Architecture Search for Mobile, 2018)."""

from ... import nn
from ._weights import published, with_weights

_FILES = {
    "0_5": ("mnasnet0.5_top1_67.823-3ffadce67e.pth",),
    "0_75": ("mnasnet0_75-7090bc5f.pth", 224, 232),
    "1_0": ("mnasnet1.0_top1_73.512-f206786ef8.pth",),
    "1_3": ("mnasnet1_3-a4c69d6f.pth", 224, 232),
}
# kernel, stride, expansion, blocks, channels
_STAGES = (
    (3, 2, 3, 3, 24),
    (5, 2, 3, 3, 40),
    (5, 2, 6, 3, 80),
    (3, 1, 6, 2, 96),
    (5, 2, 6, 4, 192),
    (3, 1, 6, 1, 320),
)
_MOMENTUM = 1 - 0.9997
__all__ = [
    "MNASNet",
    *(f"mnasnet{name}" for name in _FILES),
    *(f"MNASNet{name}_Weights" for name in _FILES),
]


def _norm(channels):
    return nn.BatchNorm2d(channels, momentum=_MOMENTUM)


class _InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        inside = inputs * expansion
        self.apply_residual = inputs == outputs and stride == 1
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, inside, 1, bias=False),
            _norm(inside),
            nn.ReLU(inplace=True),
            nn.Conv2d(inside, inside, kernel, stride, kernel // 2, groups=inside, bias=False),
            _norm(inside),
            nn.ReLU(inplace=True),
            nn.Conv2d(inside, outputs, 1, bias=False),
            _norm(outputs),
        )

    def forward(self, input):
        found = self.layers(input)
        return found + input if self.apply_residual else found


def _round_up(width, divisor=8):
    near = max(divisor, int(width + divisor / 2) // divisor * divisor)
    return near if near >= 0.9 * width else near + divisor


class MNASNet(nn.Module):
    """Inverted residual blocks whose widths are multiplied by a factor.

    Args:
        alpha: the number.
        num_classes: outputs of the last layer.
        dropout: probability before the last layer.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    _version = 2

    def __init__(self, alpha, num_classes=1000, dropout=0.2):
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha, self.num_classes = alpha, num_classes
        first, inputs = _round_up(32 * alpha), _round_up(16 * alpha)
        layers = [
            nn.Conv2d(3, first, 3, 2, 1, bias=False),
            _norm(first),
            nn.ReLU(inplace=True),
            nn.Conv2d(first, first, 3, 1, 1, groups=first, bias=False),
            _norm(first),
            nn.ReLU(inplace=True),
            nn.Conv2d(first, inputs, 1, bias=False),
            _norm(inputs),
        ]
        for kernel, stride, expansion, count, width in _STAGES:
            outputs = _round_up(width * alpha)
            blocks = [_InvertedResidual(inputs, outputs, kernel, stride, expansion)]
            blocks += [
                _InvertedResidual(outputs, outputs, kernel, 1, expansion) for _ in range(count - 1)
            ]
            layers.append(nn.Sequential(*blocks))
            inputs = outputs
        layers += [nn.Conv2d(inputs, 1280, 1, bias=False), _norm(1280), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout, inplace=True), nn.Linear(1280, num_classes)
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(self.layers(x).mean([2, 3]))


def _make(name):
    weights = published(f"MNASNet{name}_Weights", __name__, IMAGENET1K_V1=_FILES[name])
    alpha = float(name.replace("_", "."))

    def mnasnet(**config):
        return MNASNet(alpha, **config)

    mnasnet.__name__ = mnasnet.__qualname__ = f"mnasnet{name}"
    mnasnet.__doc__ = f"MNASNet, {alpha} times as wide."
    return weights, with_weights(weights)(mnasnet)


MNASNet0_5_Weights, mnasnet0_5 = _make("0_5")
MNASNet0_75_Weights, mnasnet0_75 = _make("0_75")
MNASNet1_0_Weights, mnasnet1_0 = _make("1_0")
MNASNet1_3_Weights, mnasnet1_3 = _make("1_3")
