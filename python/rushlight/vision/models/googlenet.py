"""GoogLeNet (Szegedy et al., Going Deeper with Convolutions, 2014), normalised."""

from collections import namedtuple

from ... import cat, nn
from ...nn import functional as F
from ._blocks import rescaled
from ._weights import of_networks_with_second_losses, published

__all__ = ["GoogLeNet", "GoogLeNetOutputs", "GoogLeNet_Weights", "googlenet"]
GoogLeNet_Weights = published(
    "GoogLeNet_Weights", __name__, IMAGENET1K_V1=("googlenet-1378be20.pth",)
)
GoogLeNetOutputs = namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])
# of each block: 1x1, 3x3 reduced, 3x3, 5x5 reduced, 5x5, pooling's channels
_BLOCKS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}


class BasicConv2d(nn.Module):
    """A convolution, normalised, with a ReLU.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        kwargs: of the convolution.
    """

    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        """(n, in_channels, h, w) gives (n, out_channels, ...)."""
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    """Convolutions of several sizes and a pooling beside each other."""

    def __init__(
        self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj, conv_block=None
    ):
        super().__init__()
        block = conv_block or BasicConv2d
        self.branch1 = block(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(
            block(in_channels, ch3x3red, kernel_size=1),
            block(ch3x3red, ch3x3, kernel_size=3, padding=1),
        )
        # The published network has 3x3 here, where the paper has 5x5.
        self.branch3 = nn.Sequential(
            block(in_channels, ch5x5red, kernel_size=1),
            block(ch5x5red, ch5x5, kernel_size=3, padding=1),
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(3, 1, 1, ceil_mode=True), block(in_channels, pool_proj, kernel_size=1)
        )

    def forward(self, x):
        """The channels of all of them."""
        return cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """A classifier of earlier features, for a second loss."""

    def __init__(self, in_channels, num_classes, conv_block=None, dropout=0.7):
        super().__init__()
        block = conv_block or BasicConv2d
        self.conv = block(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """The logits of the classes."""
        x = self.conv(F.adaptive_avg_pool2d(x, (4, 4))).flatten(1)
        return self.fc2(self.dropout(F.relu(self.fc1(x), inplace=True)))


class GoogLeNet(nn.Module):
    """Nine blocks of convolutions beside each other, and two classifiers on the way.

    Args:
        num_classes: outputs of the last layer.
        aux_logits: whether there are classifiers on the way.
        transform_input: images come normalised as for other networks.
        init_weights: begin with truncated normal weights; by default, they do.
        blocks: makers of a convolution, of a block and of a classifier on the way.
        dropout: probability before the last layer.
        dropout_aux: that in the classifiers on the way.

    Shape: (n, 3, h, w) gives (n, num_classes); while training, GoogLeNetOutputs.
    """

    def __init__(
        self, num_classes=1000, aux_logits=True, transform_input=False, init_weights=None,
        blocks=None, dropout=0.2, dropout_aux=0.7,
    ):  # fmt: skip
        super().__init__()
        conv, inception, aux = blocks or (BasicConv2d, Inception, InceptionAux)
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        for name, widths in _BLOCKS.items():
            if name == "4a":
                self.maxpool3 = nn.MaxPool2d(3, 2, ceil_mode=True)
            if name == "5a":
                self.maxpool4 = nn.MaxPool2d(2, 2, ceil_mode=True)
            self.add_module(f"inception{name}", inception(*widths, conv))
        self.aux1 = aux(512, num_classes, conv, dropout_aux) if aux_logits else None
        self.aux2 = aux(528, num_classes, conv, dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init_weights is None or init_weights:
            for module in self.modules():
                if isinstance(module, nn.Conv2d | nn.Linear):
                    nn.init.trunc_normal_(module.weight, mean=0.0, std=0.01, a=-2, b=2)

    def forward(self, x):
        """The logits of the classes, and while training those of the classifiers on the way."""
        x = rescaled(x) if self.transform_input else x
        x = self.maxpool1(self.conv1(x))
        x = self.maxpool2(self.conv3(self.conv2(x)))
        x = self.maxpool3(self.inception3b(self.inception3a(x)))
        x = self.inception4a(x)
        learns = self.training and self.aux1 is not None
        first = self.aux1(x) if learns else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        second = self.aux2(x) if learns else None
        x = self.maxpool4(self.inception4e(x))
        x = self.inception5b(self.inception5a(x))
        x = self.fc(self.dropout(self.avgpool(x).flatten(1)))
        return GoogLeNetOutputs(x, second, first) if self.training and self.aux_logits else x


@of_networks_with_second_losses(GoogLeNet_Weights, "aux1", "aux2", usual=False)
def googlenet(**config):
    """GoogLeNet."""
    return GoogLeNet(**config)
