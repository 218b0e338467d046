"""The parts of RAFT that learn: encoders of images and motion, the recurrent unit, the heads."""

from .... import cat, nn
from ....nn import init
from ...ops import Conv2dNormActivation


def convolution(inputs, outputs, size, stride=1, norm_layer=None, **options):
    """A convolution with a bias, its normalisation and its activation."""
    return Conv2dNormActivation(
        inputs, outputs, size, stride, norm_layer=norm_layer, bias=True, **options
    )


class ResidualBlock(nn.Module):
    """Two convolutions with a shortcut.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the result.
        norm_layer: makes the normalisations; none if None.
        stride: of the first convolution, and of the shortcut.

    Shape: (n, in_channels, h, w) gives (n, out_channels, h / stride, w / stride).
    """

    def __init__(self, in_channels, out_channels, *, norm_layer, stride=1):
        super().__init__()
        shapes = self.convolutions(in_channels, out_channels, stride)
        for i, shape in enumerate(shapes, 1):
            setattr(self, f"convnormrelu{i}", convolution(*shape, norm_layer=norm_layer))
        self.count = len(shapes)
        self.downsample = nn.Identity()
        if stride != 1:
            self.downsample = convolution(
                in_channels, out_channels, 1, stride, norm_layer, activation_layer=None
            )
        self.relu = nn.ReLU(inplace=True)

    def convolutions(self, inputs, outputs, stride):
        """Channels in and out, size and stride of each."""
        return (inputs, outputs, 3, stride), (outputs, outputs, 3, 1)

    def forward(self, x):
        """Convolved, plus x."""
        y = x
        for i in range(1, self.count + 1):
            y = getattr(self, f"convnormrelu{i}")(y)
        return self.relu(self.downsample(x) + y)


class BottleneckBlock(ResidualBlock):
    """Three convolutions with a shortcut, the middle one of few channels."""

    def convolutions(self, inputs, outputs, stride):
        """Channels in and out, size and stride of each."""
        few = outputs // 4
        return (inputs, few, 1, 1), (few, few, 3, stride), (few, outputs, 1, 1)


class FeatureEncoder(nn.Module):
    """Six blocks, that give features for each square of 8 x 8 pixels.

    Args:
        block: the class of the blocks.
        layers: channels of the first convolution, of the three stages, and of the result.
        strides: of the first convolution and of the stages.
        norm_layer: makes the normalisations; none if None.

    Shape: (n, 3, h, w) gives (n, layers[-1], h / 8, w / 8).
    """

    def __init__(
        self, *, block=ResidualBlock, layers=(64, 64, 96, 128, 256), strides=(2, 1, 2, 2),
        norm_layer=nn.BatchNorm2d,
    ):  # fmt: skip
        super().__init__()
        if len(layers) != 5:
            raise ValueError(f"The expected number of layers is 5, instead got {len(layers)}")
        self.convnormrelu = convolution(3, layers[0], 7, strides[0], norm_layer)
        for i in range(1, 4):
            stage = nn.Sequential(
                block(layers[i - 1], layers[i], norm_layer=norm_layer, stride=strides[i]),
                block(layers[i], layers[i], norm_layer=norm_layer),
            )
            setattr(self, f"layer{i}", stage)
        self.conv = nn.Conv2d(layers[3], layers[4], 1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d | nn.InstanceNorm2d) and module.affine:
                init.ones_(module.weight)
                init.zeros_(module.bias)
        self.output_dim = layers[-1]
        self.downsample_factor = strides[0] * strides[1] * strides[2] * strides[3]

    def forward(self, x):
        """The features."""
        return self.conv(self.layer3(self.layer2(self.layer1(self.convnormrelu(x)))))


class MotionEncoder(nn.Module):
    """Features of the flow as it is, and of how well the images agree around it.

    Args:
        in_channels_corr: channels of the correlations.
        corr_layers: channels of one or two convolutions of them.
        flow_layers: channels of two convolutions of the flow.
        out_channels: of the result, whose last two are the flow.
    """

    def __init__(
        self, *, in_channels_corr, corr_layers=(256, 192), flow_layers=(128, 64), out_channels=128
    ):
        super().__init__()
        if len(flow_layers) != 2 or len(corr_layers) not in (1, 2):
            raise ValueError(
                f"expected 2 flow_layers and 1 or 2 corr_layers, instead got {len(flow_layers)} "
                f"and {len(corr_layers)}"
            )
        self.convcorr1 = convolution(in_channels_corr, corr_layers[0], 1)
        self.convcorr2 = nn.Identity()
        if len(corr_layers) == 2:
            self.convcorr2 = convolution(*corr_layers, 3)
        self.convflow1 = convolution(2, flow_layers[0], 7)
        self.convflow2 = convolution(*flow_layers, 3)
        self.conv = convolution(corr_layers[-1] + flow_layers[-1], out_channels - 2, 3)
        self.out_channels = out_channels

    def forward(self, flow, corr_features):
        """The features."""
        agreement = self.convcorr2(self.convcorr1(corr_features))
        both = cat([agreement, self.convflow2(self.convflow1(flow))], 1)
        return cat([self.conv(both), flow], 1)


class ConvGRU(nn.Module):
    """A GRU whose products are convolutions."""

    def __init__(self, *, input_size, hidden_size, kernel_size, padding):
        super().__init__()
        for gate in "zrq":
            layer = nn.Conv2d(hidden_size + input_size, hidden_size, kernel_size, padding=padding)
            setattr(self, f"conv{gate}", layer)

    def forward(self, h, x):
        """The next h."""
        both = cat([h, x], 1)
        z, r = self.convz(both).sigmoid(), self.convr(both).sigmoid()
        return (1 - z) * h + z * self.convq(cat([r * h, x], 1)).tanh()


class RecurrentBlock(nn.Module):
    """One ConvGRU or two, one after another.

    Args:
        input_size: channels of the input.
        hidden_size: channels of the state.
        kernel_size: of each of them.
        padding: of each of them.
    """

    def __init__(
        self, *, input_size, hidden_size, kernel_size=((1, 5), (5, 1)), padding=((0, 2), (2, 0))
    ):
        super().__init__()
        if len(kernel_size) != len(padding) or len(kernel_size) not in (1, 2):
            raise ValueError(
                "kernel_size and padding should have the same length, 1 or 2, instead got "
                f"{len(kernel_size)} and {len(padding)}"
            )
        for i, (size, pad) in enumerate(zip(kernel_size, padding, strict=True), 1):
            unit = ConvGRU(
                input_size=input_size, hidden_size=hidden_size, kernel_size=size, padding=pad
            )
            setattr(self, f"convgru{i}", unit)
        self.hidden_size = hidden_size

    def forward(self, h, x):
        """The next h."""
        for unit in self.children():
            h = unit(h, x)
        return h


class FlowHead(nn.Module):
    """By how much the flow changes."""

    def __init__(self, *, in_channels, hidden_size):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, hidden_size, 3, padding=1)
        self.conv2 = nn.Conv2d(hidden_size, 2, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        """(n, 2, h, w)."""
        return self.conv2(self.relu(self.conv1(x)))


class UpdateBlock(nn.Module):
    """A step: encodes the motion, updates the state, and reads the flow's change from it.

    Args:
        motion_encoder: a MotionEncoder.
        recurrent_block: a RecurrentBlock.
        flow_head: a FlowHead.
    """

    def __init__(self, *, motion_encoder, recurrent_block, flow_head):
        super().__init__()
        self.motion_encoder = motion_encoder
        self.recurrent_block = recurrent_block
        self.flow_head = flow_head
        self.hidden_state_size = recurrent_block.hidden_size

    def forward(self, hidden_state, context, corr_features, flow):
        """The next state, and the change."""
        x = cat([context, self.motion_encoder(flow, corr_features)], 1)
        hidden_state = self.recurrent_block(hidden_state, x)
        return hidden_state, self.flow_head(hidden_state)


class MaskPredictor(nn.Module):
    """The weights by which eight times as many pixels are made of the flow's neighbours.

    Args:
        in_channels: channels of the state.
        hidden_size: channels between the two convolutions.
        multiplier: of the result.
    """

    def __init__(self, *, in_channels, hidden_size, multiplier=0.25):
        super().__init__()
        self.convrelu = convolution(in_channels, hidden_size, 3)
        self.conv = nn.Conv2d(hidden_size, 8 * 8 * 9, 1)
        self.multiplier = multiplier

    def forward(self, x):
        """(n, 576, h, w)."""
        return self.multiplier * self.conv(self.convrelu(x))
