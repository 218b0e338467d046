"""VGG (Simonyan and Zisserman, 2014), with and without batch normalisation."""

from ... import flatten, nn
from ._blocks import start_convolutions
from ._weights import published, with_weights

_FILES = {
    "VGG11": "vgg11-8a719046.pth",
    "VGG11_BN": "vgg11_bn-6002323d.pth",
    "VGG13": "vgg13-19584684.pth",
    "VGG13_BN": "vgg13_bn-abd245e5.pth",
    "VGG16": "vgg16-397923af.pth",
    "VGG16_BN": "vgg16_bn-6c64b313.pth",
    "VGG19": "vgg19-dcbb9e9d.pth",
    "VGG19_BN": "vgg19_bn-c79401a0.pth",
}
# Convolutions of each stage; a pooling follows each.
_STAGES = {
    "vgg11": (1, 1, 2, 2, 2),
    "vgg13": (2, 2, 2, 2, 2),
    "vgg16": (2, 2, 3, 3, 3),
    "vgg19": (2, 2, 4, 4, 4),
}

__all__ = ["VGG", *(name.lower() for name in _FILES), *(name + "_Weights" for name in _FILES)]


class VGG(nn.Module):
    """Stages of 3x3 convolutions, then three linear layers.

    Args:
        features: the stages.
        num_classes: outputs of the last layer.
        init_weights: begin with normal weights.
        dropout: probability between the linear layers.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            start_convolutions(self, linear_std=0.01)

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


def make_layers(cfg, batch_norm=False):
    """The features of a VGG: widths of convolutions, "M" for a pooling.

    Args:
        cfg: widths and "M".
        batch_norm: normalise after each convolution.
    """
    layers, inputs = [], 3
    for width in cfg:
        if width == "M":
            layers.append(nn.MaxPool2d(2, 2))
            continue
        layers.append(nn.Conv2d(inputs, width, 3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(width))
        layers.append(nn.ReLU(inplace=True))
        inputs = width
    return nn.Sequential(*layers)


def _stages(counts):
    for count, width in zip(counts, (64, 128, 256, 512, 512), strict=True):
        yield from (width,) * count
        yield "M"


def _make(name):
    files = {"IMAGENET1K_V1": (_FILES[name],)}
    if name == "VGG16":  # of SSD's authors, without a classifier
        files["IMAGENET1K_FEATURES"] = ("vgg16_features-amdegroot-88682ab5.pth",)
    weights = published(f"{name}_Weights", __name__, best=0, **files)
    plain, _, normalised = name.lower().partition("_")

    def vgg(**config):
        return VGG(make_layers(_stages(_STAGES[plain]), bool(normalised)), **config)

    vgg.__name__ = vgg.__qualname__ = name.lower()
    vgg.__doc__ = f"VGG with {plain[3:]} layers{' and batch normalisation' * bool(normalised)}."
    return weights, with_weights(weights)(vgg)


VGG11_Weights, vgg11 = _make("VGG11")
VGG11_BN_Weights, vgg11_bn = _make("VGG11_BN")
VGG13_Weights, vgg13 = _make("VGG13")
VGG13_BN_Weights, vgg13_bn = _make("VGG13_BN")
VGG16_Weights, vgg16 = _make("VGG16")
VGG16_BN_Weights, vgg16_bn = _make("VGG16_BN")
VGG19_Weights, vgg19 = _make("VGG19")
VGG19_BN_Weights, vgg19_bn = _make("VGG19_BN")
