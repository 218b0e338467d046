"""Inception V3 (Szegedy et al., Rethinking the Inception Architecture, 2015)."""

from collections import namedtuple

from ... import cat, nn
from ...nn import functional as F
from ._blocks import rescaled
from ._weights import of_networks_with_second_losses, published
from .googlenet import BasicConv2d

__all__ = ["Inception3", "InceptionOutputs", "Inception_V3_Weights", "inception_v3"]
Inception_V3_Weights = published(
    "Inception_V3_Weights", __name__, IMAGENET1K_V1=("inception_v3_google-0cc3c7bd.pth", 299, 342)
)
InceptionOutputs = namedtuple("InceptionOutputs", ["logits", "aux_logits"])


def _wide(size):
    return {"kernel_size": (1, size), "padding": (0, size // 2)}


def _high(size):
    return {"kernel_size": (size, 1), "padding": (size // 2, 0)}


def _mean3(x):
    return F.avg_pool2d(x, 3, 1, 1)


class InceptionA(nn.Module):
    """1x1, 5x5, two 3x3 and a pooling beside each other."""

    def __init__(self, in_channels, pool_features, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        self.branch1x1 = block(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = block(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = block(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = block(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = block(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = block(96, 96, kernel_size=3, padding=1)
        self.branch_pool = block(in_channels, pool_features, kernel_size=1)

    def forward(self, x):
        """The channels of all of them."""
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        five = self.branch5x5_2(self.branch5x5_1(x))
        return cat([self.branch1x1(x), five, double, self.branch_pool(_mean3(x))], 1)


class InceptionB(nn.Module):
    """Half the size, by 3x3, two 3x3 and a pooling beside each other."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        self.branch3x3 = block(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = block(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = block(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = block(96, 96, kernel_size=3, stride=2)

    def forward(self, x):
        """The channels of all of them."""
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return cat([self.branch3x3(x), double, F.max_pool2d(x, 3, 2)], 1)


class InceptionC(nn.Module):
    """7x7 as 1x7 and 7x1, once and twice, beside 1x1 and a pooling."""

    def __init__(self, in_channels, channels_7x7, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        c = channels_7x7
        self.branch1x1 = block(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = block(in_channels, c, kernel_size=1)
        self.branch7x7_2 = block(c, c, **_wide(7))
        self.branch7x7_3 = block(c, 192, **_high(7))
        self.branch7x7dbl_1 = block(in_channels, c, kernel_size=1)
        self.branch7x7dbl_2 = block(c, c, **_high(7))
        self.branch7x7dbl_3 = block(c, c, **_wide(7))
        self.branch7x7dbl_4 = block(c, c, **_high(7))
        self.branch7x7dbl_5 = block(c, 192, **_wide(7))
        self.branch_pool = block(in_channels, 192, kernel_size=1)

    def forward(self, x):
        """The channels of all of them."""
        once = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        twice = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        twice = self.branch7x7dbl_5(self.branch7x7dbl_4(twice))
        return cat([self.branch1x1(x), once, twice, self.branch_pool(_mean3(x))], 1)


class InceptionD(nn.Module):
    """Half the size, by 3x3, 7x7 and 3x3, and a pooling beside each other."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        self.branch3x3_1 = block(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = block(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = block(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = block(192, 192, **_wide(7))
        self.branch7x7x3_3 = block(192, 192, **_high(7))
        self.branch7x7x3_4 = block(192, 192, kernel_size=3, stride=2)

    def forward(self, x):
        """The channels of all of them."""
        three = self.branch3x3_2(self.branch3x3_1(x))
        seven = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        return cat([three, self.branch7x7x3_4(seven), F.max_pool2d(x, 3, 2)], 1)


class InceptionE(nn.Module):
    """3x3 as 1x3 beside 3x1, once and after another, beside 1x1 and a pooling."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        self.branch1x1 = block(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = block(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = block(384, 384, **_wide(3))
        self.branch3x3_2b = block(384, 384, **_high(3))
        self.branch3x3dbl_1 = block(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = block(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = block(384, 384, **_wide(3))
        self.branch3x3dbl_3b = block(384, 384, **_high(3))
        self.branch_pool = block(in_channels, 192, kernel_size=1)

    def forward(self, x):
        """The channels of all of them."""
        once = self.branch3x3_1(x)
        twice = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        return cat(
            [
                self.branch1x1(x),
                self.branch3x3_2a(once),
                self.branch3x3_2b(once),
                self.branch3x3dbl_3a(twice),
                self.branch3x3dbl_3b(twice),
                self.branch_pool(_mean3(x)),
            ],
            1,
        )


class InceptionAux(nn.Module):
    """A classifier of earlier features, for a second loss."""

    def __init__(self, in_channels, num_classes, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        self.conv0 = block(in_channels, 128, kernel_size=1)
        self.conv1 = block(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x):
        """The logits of the classes."""
        x = self.conv1(self.conv0(F.avg_pool2d(x, 5, 3)))
        return self.fc(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


class Inception3(nn.Module):
    """Eleven blocks of convolutions beside each other, and a classifier on the way.

    Args:
        num_classes: outputs of the last layer.
        aux_logits: whether there is a classifier on the way.
        transform_input: images come normalised as for other networks.
        inception_blocks: makers of a convolution, of the five blocks and of the classifier.
        init_weights: begin with truncated normal weights; by default, they do.
        dropout: probability before the last layer.

    Shape: (n, 3, h, w), of 75 pixels at least, gives (n, num_classes); while training,
    InceptionOutputs.
    """

    def __init__(
        self, num_classes=1000, aux_logits=True, transform_input=False, inception_blocks=None,
        init_weights=None, dropout=0.5,
    ):  # fmt: skip
        super().__init__()
        conv, a, b, c, d, e, aux = inception_blocks or (
            BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux,
        )  # fmt: skip
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(3, 2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(3, 2)
        self.Mixed_5b, self.Mixed_5c = a(192, 32, conv), a(256, 64, conv)
        self.Mixed_5d, self.Mixed_6a = a(288, 64, conv), b(288, conv)
        self.Mixed_6b, self.Mixed_6c = c(768, 128, conv), c(768, 160, conv)
        self.Mixed_6d, self.Mixed_6e = c(768, 160, conv), c(768, 192, conv)
        self.AuxLogits = aux(768, num_classes, conv) if aux_logits else None
        self.Mixed_7a, self.Mixed_7b = d(768, conv), e(1280, conv)
        self.Mixed_7c = e(2048, conv)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init_weights is None or init_weights:
            for module in self.modules():
                if isinstance(module, nn.Conv2d | nn.Linear):
                    std = float(getattr(module, "stddev", 0.1))
                    nn.init.trunc_normal_(module.weight, mean=0.0, std=std, a=-2, b=2)
                elif isinstance(module, nn.BatchNorm2d):
                    nn.init.ones_(module.weight)
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        """The logits of the classes, and while training those of the classifier on the way."""
        x = rescaled(x) if self.transform_input else x
        x = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        x = self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(self.maxpool1(x)))
        x = self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(self.maxpool2(x))))
        x = self.Mixed_6b(self.Mixed_6a(x))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(x)))
        second = self.AuxLogits(x) if self.training and self.AuxLogits is not None else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        x = self.fc(self.dropout(self.avgpool(x)).flatten(1))
        return InceptionOutputs(x, second) if self.training and self.aux_logits else x


@of_networks_with_second_losses(Inception_V3_Weights, "AuxLogits", usual=True)
def inception_v3(**config):
    """Inception V3."""
    return Inception3(**config)
