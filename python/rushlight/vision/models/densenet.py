"""DenseNet (Huang et al., 2016)."""

import re
from collections import OrderedDict

from ... import cat, flatten, nn
from ...nn import functional as F
from ...nn import init
from ._weights import published, with_weights

_FILES = {
    "DenseNet121": "densenet121-a639ec97.pth",
    "DenseNet161": "densenet161-8d451a50.pth",
    "DenseNet169": "densenet169-b2777c0a.pth",
    "DenseNet201": "densenet201-c1103571.pth",
}
__all__ = [
    "DenseNet",
    *(name.lower() for name in _FILES),
    *(name + "_Weights" for name in _FILES),
]


def _weights(name):
    return published(name + "_Weights", __name__, IMAGENET1K_V1=(_FILES[name],))


DenseNet121_Weights = _weights("DenseNet121")
DenseNet161_Weights = _weights("DenseNet161")
DenseNet169_Weights = _weights("DenseNet169")
DenseNet201_Weights = _weights("DenseNet201")


class _DenseLayer(nn.Module):
    def __init__(self, inputs, growth_rate, bn_size, drop_rate):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(inputs, bn_size * growth_rate, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, 3, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def forward(self, earlier):
        """What this layer adds to all that came before it in its block."""
        x = self.conv1(self.relu1(self.norm1(cat(earlier, 1))))
        x = self.conv2(self.relu2(self.norm2(x)))
        return F.dropout(x, self.drop_rate, self.training) if self.drop_rate > 0 else x


class _DenseBlock(nn.ModuleDict):
    def __init__(self, layers, inputs, bn_size, growth_rate, drop_rate):
        super().__init__()
        for i in range(layers):
            layer = _DenseLayer(inputs + i * growth_rate, growth_rate, bn_size, drop_rate)
            self.add_module(f"denselayer{i + 1}", layer)

    def forward(self, x):
        """The input and what each layer has added to it."""
        features = [x]
        for layer in self.values():
            features.append(layer(features))
        return cat(features, 1)


class _Transition(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.pool = nn.AvgPool2d(2, 2)


class DenseNet(nn.Module):
    """Blocks in which each layer sees all earlier ones, halved between blocks.

    Args:
        growth_rate: channels that each layer adds.
        block_config: layers of each block.
        num_init_features: channels of the first convolution.
        bn_size: width of the 1x1 convolutions, in growth rates.
        drop_rate: dropout after each layer.
        num_classes: outputs of the last layer.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, bn_size=4,
        drop_rate=0, num_classes=1000,
    ):  # fmt: skip
        super().__init__()
        channels = num_init_features
        self.features = nn.Sequential(
            OrderedDict(
                conv0=nn.Conv2d(3, channels, 7, 2, 3, bias=False),
                norm0=nn.BatchNorm2d(channels),
                relu0=nn.ReLU(inplace=True),
                pool0=nn.MaxPool2d(3, 2, 1),
            )
        )
        for i, layers in enumerate(block_config):
            block = _DenseBlock(layers, channels, bn_size, growth_rate, drop_rate)
            self.features.add_module(f"denseblock{i + 1}", block)
            channels += layers * growth_rate
            if i + 1 < len(block_config):
                transition = _Transition(channels, channels // 2)
                self.features.add_module(f"transition{i + 1}", transition)
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.Linear):
                init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes."""
        x = F.relu(self.features(x), inplace=True)
        return self.classifier(flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))

    @staticmethod
    def renamed(state):
        """The published files say norm.1 where the modules now say norm1."""
        old = re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.([12]\..*)$")
        return {old.sub(r"\1\2", key): value for key, value in state.items()}


@with_weights(DenseNet121_Weights)
def densenet121(**config):
    """DenseNet with 121 layers."""
    return DenseNet(32, (6, 12, 24, 16), 64, **config)


@with_weights(DenseNet161_Weights)
def densenet161(**config):
    """DenseNet with 161 layers."""
    return DenseNet(48, (6, 12, 36, 24), 96, **config)


@with_weights(DenseNet169_Weights)
def densenet169(**config):
    """DenseNet with 169 layers."""
    return DenseNet(32, (6, 12, 32, 32), 64, **config)


@with_weights(DenseNet201_Weights)
def densenet201(**config):
    """DenseNet with 201 layers."""
    return DenseNet(32, (6, 12, 48, 32), 64, **config)
