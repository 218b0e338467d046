"""Layers that networks for images are built from."""

import rushlight
from rushlight import nn
from rushlight.nn.functional import interpolate as interpolate


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation whose statistics and factors are buffers, and stay as they are.

    Args:
        num_features: channels.
        eps: is added to the variance.

    Shape: (n, channels, height, width).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import FrozenBatchNorm2d
    >>> FrozenBatchNorm2d(3)
    FrozenBatchNorm2d(3, eps=1e-05)
    """

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, value in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)):
            self.register_buffer(name, rushlight.full((num_features,), float(value)))

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        state_dict.pop(prefix + "num_batches_tracked", None)  # of the BatchNorm2d it comes from
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x):
        shape = (1, -1, 1, 1)
        scale = self.weight.reshape(shape) * (self.running_var.reshape(shape) + self.eps).rsqrt()
        return x * scale + (self.bias.reshape(shape) - self.running_mean.reshape(shape) * scale)

    def __repr__(self):
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


class ConvNormActivation(nn.Sequential):
    """A convolution, a normalisation, an activation; Conv2dNormActivation has the arguments."""

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
        norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None,
        conv_layer=nn.Conv2d,
    ):  # fmt: skip
        if padding is None:
            if isinstance(kernel_size, int) and isinstance(dilation, int):
                padding = (kernel_size - 1) // 2 * dilation
            else:
                count = len(kernel_size if isinstance(kernel_size, (tuple, list)) else dilation)
                sizes, steps = (
                    [x] * count if isinstance(x, int) else x for x in (kernel_size, dilation)
                )
                padding = tuple((k - 1) // 2 * d for k, d in zip(sizes, steps, strict=True))
        if bias is None:
            bias = norm_layer is None
        layers = [
            conv_layer(
                in_channels, out_channels, kernel_size, stride, padding, dilation=dilation,
                groups=groups, bias=bias,
            )
        ]  # fmt: skip
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(ConvNormActivation):
    """A convolution of images, a normalisation, an activation.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: of the convolution; by default such that stride 1 keeps the size.
        groups: of the convolution.
        norm_layer: makes the normalisation, given the channels; None: none.
        activation_layer: makes the activation; None: none.
        dilation: of the convolution.
        inplace: of the activation; None: it has no such argument.
        bias: of the convolution; by default where nothing normalises.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import Conv2dNormActivation
    >>> Conv2dNormActivation(3, 8)(torch.zeros(1, 3, 5, 5)).shape
    torch.Size([1, 8, 5, 5])
    """


class Conv3dNormActivation(ConvNormActivation):
    """A convolution of volumes, a normalisation, an activation: as Conv2dNormActivation.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: of the convolution; by default such that stride 1 keeps the size.
        groups: of the convolution.
        norm_layer: makes the normalisation, given the channels; None: none.
        activation_layer: makes the activation; None: none.
        dilation: of the convolution.
        inplace: of the activation; None: it has no such argument.
        bias: of the convolution; by default where nothing normalises.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import Conv3dNormActivation
    >>> Conv3dNormActivation(1, 2)(torch.zeros(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
        norm_layer=nn.BatchNorm3d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer,
            activation_layer, dilation, inplace, bias, nn.Conv3d,
        )  # fmt: skip


class SqueezeExcitation(nn.Module):
    """Scales each channel by a factor that two small layers make of all channels' means.

    Args:
        input_channels: of the input.
        squeeze_channels: between the two layers.
        activation: makes the one between them.
        scale_activation: makes the one that gives the factors.

    Source: Hu et al., Squeeze-and-Excitation Networks, 2017.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import SqueezeExcitation
    >>> SqueezeExcitation(4, 2)(torch.zeros(1, 4, 3, 3)).shape
    torch.Size([1, 4, 3, 3])
    """

    def __init__(
        self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid
    ):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input):
        inner = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(inner)) * input


class MLP(nn.Sequential):
    """Linear layers with normalisation, activation and dropout between them.

    Args:
        in_channels: of the input.
        hidden_channels: of each layer's result.
        norm_layer: makes the normalisation, given the channels; None: none.
        activation_layer: makes the activation.
        inplace: of activation and dropout; None: their default.
        bias: whether the layers have one.
        dropout: its probability.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import MLP
    >>> MLP(4, [8, 2])(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, in_channels, hidden_channels, norm_layer=None, activation_layer=nn.ReLU,
        inplace=None, bias=True, dropout=0.0,
    ):  # fmt: skip
        options = {} if inplace is None else {"inplace": inplace}
        layers = []
        for width in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            layers += [activation_layer(**options), nn.Dropout(dropout, **options)]
            in_channels = width
        layers.append(nn.Linear(in_channels, hidden_channels[-1], bias=bias))
        layers.append(nn.Dropout(dropout, **options))
        super().__init__(*layers)


class Permute(nn.Module):
    """The dimensions in another order.

    Args:
        dims: the order.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import Permute
    >>> Permute([1, 0])(torch.zeros(2, 3)).shape
    torch.Size([3, 2])
    """

    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return x.permute(self.dims)
