"""ResNet (He et al., 2015), ResNeXt and wide ResNet."""

from ... import flatten, nn
from ...nn import init
from ._blocks import start_convolutions
from ._weights import published, with_weights

_FILES = {
    "ResNet18": ("resnet18-f37072fd.pth",),
    "ResNet34": ("resnet34-b627a593.pth",),
    "ResNet50": ("resnet50-0676ba61.pth", "resnet50-11ad3fa6.pth"),
    "ResNet101": ("resnet101-63fe2227.pth", "resnet101-cd907fc2.pth"),
    "ResNet152": ("resnet152-394f9c45.pth", "resnet152-f82ba261.pth"),
    "ResNeXt50_32X4D": ("resnext50_32x4d-7cdf4587.pth", "resnext50_32x4d-1a0047aa.pth"),
    "ResNeXt101_32X8D": ("resnext101_32x8d-8ba56ff5.pth", "resnext101_32x8d-110c445d.pth"),
    "ResNeXt101_64X4D": ("", "resnext101_64x4d-173b62eb.pth"),
    "Wide_ResNet50_2": ("wide_resnet50_2-95faca4d.pth", "wide_resnet50_2-9ba9bcbe.pth"),
    "Wide_ResNet101_2": ("wide_resnet101_2-32ee1156.pth", "wide_resnet101_2-d733dc28.pth"),
}


def _weights(name):
    sizes = ((), (224, 232))
    files = _FILES[name]
    if not files[0]:  # learned by the second recipe alone
        return published(name + "_Weights", __name__, IMAGENET1K_V1=(files[1], *sizes[1]))
    versions = {f"IMAGENET1K_V{i + 1}": (file, *sizes[i]) for i, file in enumerate(files)}
    return published(name + "_Weights", __name__, **versions)


ResNet18_Weights = _weights("ResNet18")
ResNet34_Weights = _weights("ResNet34")
ResNet50_Weights = _weights("ResNet50")
ResNet101_Weights = _weights("ResNet101")
ResNet152_Weights = _weights("ResNet152")
ResNeXt50_32X4D_Weights = _weights("ResNeXt50_32X4D")
ResNeXt101_32X8D_Weights = _weights("ResNeXt101_32X8D")
ResNeXt101_64X4D_Weights = _weights("ResNeXt101_64X4D")
Wide_ResNet50_2_Weights = _weights("Wide_ResNet50_2")
Wide_ResNet101_2_Weights = _weights("Wide_ResNet101_2")

__all__ = [
    "BasicBlock", "Bottleneck", "ResNet", "resnet101", "resnet152", "resnet18", "resnet34",
    "resnet50", "resnext101_32x8d", "resnext101_64x4d", "resnext50_32x4d",
    "wide_resnet101_2", "wide_resnet50_2",
    *(name + "_Weights" for name in _FILES),
]  # fmt: skip


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    """A 3x3 convolution without a bias that keeps the size, or divides it by the stride.

    Args:
        in_planes: channels of the input.
        out_planes: channels of the result.
        stride: of the convolution.
        groups: likewise.
        dilation: likewise; the padding too.
    """
    return nn.Conv2d(
        in_planes, out_planes, 3, stride, dilation, dilation=dilation, groups=groups, bias=False
    )


def conv1x1(in_planes, out_planes, stride=1):
    """A 1x1 convolution without a bias.

    Args:
        in_planes: channels of the input.
        out_planes: channels of the result.
        stride: of the convolution.
    """
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    expansion = 1

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
        norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        """relu(convolutions(x) + shortcut(x))."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A 1x1, a 3x3 and a 1x1 convolution beside a shortcut; the stride is the 3x3's."""

    expansion = 4

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
        norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        """relu(convolutions(x) + shortcut(x))."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """Four stages of residual blocks.

    Args:
        block: BasicBlock or Bottleneck.
        layers: how many blocks each stage has.
        num_classes: outputs of the last layer.
        zero_init_residual: each block begins as its shortcut alone.
        groups: of the 3x3 convolutions.
        width_per_group: their width for 64 planes.
        replace_stride_with_dilation: for the last three stages, whether they dilate instead.
        norm_layer: the normalisation; BatchNorm2d by default.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(
        self, block, layers, num_classes=1000, zero_init_residual=False, groups=1,
        width_per_group=64, replace_stride_with_dilation=None, norm_layer=None,
    ):  # fmt: skip
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        dilates = replace_stride_with_dilation or [False, False, False]
        if len(dilates) != 3:
            raise ValueError(
                "replace_stride_with_dilation should be None or a 3-element tuple, got "
                f"{replace_stride_with_dilation}"
            )
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = self._norm_layer(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilates[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilates[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilates[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        start_convolutions(self)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, Bottleneck):
                    init.zeros_(module.bn3.weight)
                elif isinstance(module, BasicBlock):
                    init.zeros_(module.bn2.weight)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        before = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        outputs = planes * block.expansion
        if stride != 1 or self.inplanes != outputs:
            downsample = nn.Sequential(
                conv1x1(self.inplanes, outputs, stride), self._norm_layer(outputs)
            )
        common = (self.groups, self.base_width)
        first = block(self.inplanes, planes, stride, downsample, *common, before, self._norm_layer)
        self.inplanes = outputs
        rest = [
            block(outputs, planes, 1, None, *common, self.dilation, self._norm_layer)
            for _ in range(1, blocks)
        ]
        return nn.Sequential(first, *rest)

    def forward(self, x):
        """The logits of the classes."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(flatten(self.avgpool(x), 1))


@with_weights(ResNet18_Weights)
def resnet18(**config):
    """ResNet with 18 layers."""
    return ResNet(BasicBlock, [2, 2, 2, 2], **config)


@with_weights(ResNet34_Weights)
def resnet34(**config):
    """ResNet with 34 layers."""
    return ResNet(BasicBlock, [3, 4, 6, 3], **config)


@with_weights(ResNet50_Weights)
def resnet50(**config):
    """ResNet with 50 layers."""
    return ResNet(Bottleneck, [3, 4, 6, 3], **config)


@with_weights(ResNet101_Weights)
def resnet101(**config):
    """ResNet with 101 layers."""
    return ResNet(Bottleneck, [3, 4, 23, 3], **config)


@with_weights(ResNet152_Weights)
def resnet152(**config):
    """ResNet with 152 layers."""
    return ResNet(Bottleneck, [3, 8, 36, 3], **config)


@with_weights(ResNeXt50_32X4D_Weights)
def resnext50_32x4d(**config):
    """ResNeXt with 50 layers and 32 groups of width 4."""
    return ResNet(Bottleneck, [3, 4, 6, 3], groups=32, width_per_group=4, **config)


@with_weights(ResNeXt101_32X8D_Weights)
def resnext101_32x8d(**config):
    """ResNeXt with 101 layers and 32 groups of width 8."""
    return ResNet(Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=8, **config)


@with_weights(ResNeXt101_64X4D_Weights)
def resnext101_64x4d(**config):
    """ResNeXt with 101 layers and 64 groups of width 4."""
    return ResNet(Bottleneck, [3, 4, 23, 3], groups=64, width_per_group=4, **config)


@with_weights(Wide_ResNet50_2_Weights)
def wide_resnet50_2(**config):
    """ResNet with 50 layers, twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 6, 3], width_per_group=128, **config)


@with_weights(Wide_ResNet101_2_Weights)
def wide_resnet101_2(**config):
    """ResNet with 101 layers, twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 23, 3], width_per_group=128, **config)
