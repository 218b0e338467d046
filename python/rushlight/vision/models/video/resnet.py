"""ResNets of 18 layers for videos (Tran et al., 2017): R3D, MC3 and R(2+1)D."""

from .... import flatten, nn
from ....nn import init
from .._weights import with_weights
from ._weights import CLASSES, published_video

_FILES = {
    "R3D_18": "r3d_18-b3b3357e.pth",
    "MC3_18": "mc3_18-a90a0ba3.pth",
    "R2Plus1D_18": "r2plus1d_18-91a641e6.pth",
}
__all__ = ["VideoResNet", *(name.lower() for name in _FILES), *(n + "_Weights" for n in _FILES)]


class Conv3DSimple(nn.Conv3d):
    """A convolution of 3 x 3 x 3."""

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, 3, stride, padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        """Of a shortcut beside it."""
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    """A convolution of each frame by itself, 3 x 3."""

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, (1, 3, 3), (1, stride, stride),
                         (0, padding, padding), bias=False)  # fmt: skip

    @staticmethod
    def get_downsample_stride(stride):
        """Of a shortcut beside it."""
        return 1, stride, stride


class Conv2Plus1D(nn.Sequential):
    """A convolution of each frame, and one over time."""

    def __init__(self, in_planes, out_planes, midplanes, stride=1, padding=1):
        super().__init__(
            nn.Conv3d(in_planes, midplanes, (1, 3, 3), (1, stride, stride), (0, padding, padding),
                      bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, (3, 1, 1), (stride, 1, 1), (padding, 0, 0),
                      bias=False),
        )  # fmt: skip

    @staticmethod
    def get_downsample_stride(stride):
        """Of a shortcut beside it."""
        return stride, stride, stride


class BasicBlock(nn.Module):
    """Two convolutions with a shortcut."""

    expansion = 1

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        # As many numbers as a convolution of 3 x 3 x 3 has.
        middle = inplanes * planes * 27 // (inplanes * 9 + 3 * planes)
        self.conv1 = nn.Sequential(
            conv_builder(inplanes, planes, middle, stride),
            nn.BatchNorm3d(planes),
            nn.ReLU(inplace=True),
        )
        self.conv2 = nn.Sequential(conv_builder(planes, planes, middle), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        """Convolved, plus x."""
        shortcut = x if self.downsample is None else self.downsample(x)
        return self.relu(self.conv2(self.conv1(x)) + shortcut)


class BasicStem(nn.Sequential):
    """The first layer: 3 x 7 x 7."""

    def __init__(self):
        super().__init__(
            nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False),
            nn.BatchNorm3d(64),
            nn.ReLU(inplace=True),
        )


class R2Plus1dStem(nn.Sequential):
    """The first layers of R(2+1)D: 7 x 7 and 3."""

    def __init__(self):
        super().__init__(
            nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
            nn.BatchNorm3d(45),
            nn.ReLU(inplace=True),
            nn.Conv3d(45, 64, (3, 1, 1), 1, (1, 0, 0), bias=False),
            nn.BatchNorm3d(64),
            nn.ReLU(inplace=True),
        )


class VideoResNet(nn.Module):
    """Four stages of blocks.

    Args:
        block: the class of the blocks.
        conv_makers: the class of the convolutions, for each stage.
        layers: blocks of each stage.
        stem: makes the first layers.
        num_classes: outputs of the last layer.
        zero_init_residual: whether each block begins as its shortcut.

    Shape: (n, 3, frames, h, w) gives (n, num_classes).
    """

    def __init__(self, block, conv_makers, layers, stem, num_classes=400, zero_init_residual=False):
        super().__init__()
        self.inplanes = 64
        self.stem = stem()
        stages = zip((64, 128, 256, 512), conv_makers, layers, (1, 2, 2, 2), strict=True)
        for i, stage in enumerate(stages, 1):
            setattr(self, f"layer{i}", self._stage(block, *stage))
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                init.normal_(module.weight, 0, 0.01)
                init.zeros_(module.bias)
            elif zero_init_residual and isinstance(module, BasicBlock):
                init.zeros_(module.conv2[1].weight)

    def _stage(self, block, planes, conv, count, stride):
        shortcut = None
        outputs = planes * block.expansion
        if stride != 1 or self.inplanes != outputs:
            steps = conv.get_downsample_stride(stride)
            shortcut = nn.Sequential(
                nn.Conv3d(self.inplanes, outputs, 1, steps, bias=False), nn.BatchNorm3d(outputs)
            )
        blocks = [block(self.inplanes, planes, conv, stride, shortcut)]
        self.inplanes = outputs
        blocks += [block(outputs, planes, conv) for _ in range(count - 1)]
        return nn.Sequential(*blocks)

    def forward(self, x):
        """The logits of the classes."""
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(flatten(self.avgpool(x), 1))


def _make(name, convolutions, stem=BasicStem):
    weights = published_video(f"{name}_Weights", __name__, _FILES[name])

    def network(**config):
        return VideoResNet(
            BasicBlock, convolutions, [2, 2, 2, 2], stem, **{"num_classes": CLASSES, **config}
        )

    network.__name__ = network.__qualname__ = name.lower()
    network.__doc__ = f"{name}, of 18 layers."
    return weights, with_weights(weights, classes=CLASSES)(network)


R3D_18_Weights, r3d_18 = _make("R3D_18", [Conv3DSimple] * 4)
MC3_18_Weights, mc3_18 = _make("MC3_18", [Conv3DSimple] + [Conv3DNoTemporal] * 3)
R2Plus1D_18_Weights, r2plus1d_18 = _make("R2Plus1D_18", [Conv2Plus1D] * 4, R2Plus1dStem)
