"""Convolution whose samples lie beside the pixels of the grid (Dai et al., 2017; Zhu et al., 2018).

Each sample is one of grid_sample(); the products with the weights are one matrix product.
"""

import math

import rushlight
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.nn.modules.utils import _pair


def _check(input, offset, weight, mask, sizes, groups):
    if input.dim() != 4 or offset.dim() != 4 or weight.dim() != 4:
        raise RuntimeError(
            "Expected 4-dimensional input, offset and weight, got "
            f"{input.dim()}, {offset.dim()} and {weight.dim()} dimensions"
        )
    weight_groups, offset_groups = groups
    n, out = input.shape[0], list(sizes)
    taps = weight.shape[2] * weight.shape[3]
    if offset_groups <= 0:
        raise RuntimeError(
            "the shape of the offset tensor at dimension 1 is not valid. It should be a multiple "
            f"of 2 * weight.size[2] * weight.size[3].\nGot offset.shape[1]={offset.shape[1]}, while"
            f" 2 * weight.size[2] * weight.size[3]={2 * taps}"
        )
    if offset.shape[1] != offset_groups * 2 * taps:
        raise RuntimeError(
            f"offset.shape[1] is not valid: got: {offset.shape[1]} expected: "
            f"{offset_groups * 2 * taps}"
        )
    fits = weight_groups > 0 and weight_groups * weight.shape[1] == input.shape[1]
    if not fits or weight.shape[0] % weight_groups:
        raise RuntimeError(
            f"the input's {input.shape[1]} channels, and the weight's {weight.shape[0]} outputs of "
            f"{weight.shape[1]} channels each, do not form groups"
        )
    if input.shape[1] % offset_groups or not input.shape[1]:
        raise RuntimeError(
            f"the input's {input.shape[1]} channels do not form {offset_groups} groups of offsets"
        )
    if min(out) <= 0:
        raise RuntimeError(f"Calculated output size too small - out_h: {out[0]} out_w: {out[1]}")
    for name, given, channels in (("offset", offset, None), ("mask", mask, offset_groups * taps)):
        if given is None:
            continue
        if given.shape[0] != n:
            raise RuntimeError(f"invalid batch size of {name}: {given.shape[0]}, the input has {n}")
        if list(given.shape[2:]) != out:
            raise RuntimeError(
                f"{name} output dims: ({given.shape[2]}, {given.shape[3]}) - computed output dims: "
                f"({out[0]}, {out[1]})"
            )
        if channels is not None and given.shape[1] != channels:
            raise RuntimeError(
                f"mask.shape[1] is not valid: got: {given.shape[1]} expected: {channels}"
            )


def deform_conv2d(
    input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mask=None
):  # fmt: skip
    """A convolution whose samples are moved by offsets, and multiplied with a mask where one is.

    Args:
        input: images (n, c, h, w).
        offset: (n, groups * 2 * kh * kw, oh, ow): rows and columns to move each sample by.
        weight: (out, c / groups, kh, kw).
        bias: (out).
        stride: of the convolution.
        padding: zeros around the images.
        dilation: between the elements of the kernel.
        mask: (n, groups * kh * kw, oh, ow): what each sample is multiplied with.

    Shape: (n, out, oh, ow).

    Source: Zhu et al., Deformable ConvNets v2, 2018.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import deform_conv2d
    >>> image = torch.arange(9.0).reshape(1, 1, 3, 3)
    >>> offset = torch.full((1, 2, 3, 3), 0.5)
    >>> deform_conv2d(image, offset, torch.ones(1, 1, 1, 1))[0, 0, 0]
    tensor([2.0000, 3.0000, 1.7500])
    """
    (sy, sx), (py, px), (dy, dx) = _pair(stride), _pair(padding), _pair(dilation)
    if min(sy, sx) <= 0 or min(dy, dx) <= 0 or min(py, px) < 0:
        raise RuntimeError(
            f"stride and dilation must be positive and padding not negative, got {stride}, "
            f"{dilation} and {padding}"
        )
    if input.dim() != 4 or weight.dim() != 4 or offset.dim() != 4:
        _check(input, offset, weight, mask, (1, 1), (1, 1))
    (n, c, h, w), (kh, kw) = input.shape, weight.shape[2:]
    oh = (h + 2 * py - (dy * (kh - 1) + 1)) // sy + 1
    ow = (w + 2 * px - (dx * (kw - 1) + 1)) // sx + 1
    taps = kh * kw
    parts = offset.shape[1] // (2 * taps) if taps else 0
    groups = c // weight.shape[1] if weight.shape[1] else 0
    _check(input, offset, weight, mask, (oh, ow), (groups, parts))
    moved = offset.reshape(n * parts, taps, 2, oh, ow)
    kind = {"dtype": offset.dtype, "device": offset.device}
    rows, columns = (
        (rushlight.arange(k, **kind) * d - p)[:, None] + rushlight.arange(o, **kind) * s
        for k, d, p, o, s in ((kh, dy, py, oh, sy), (kw, dx, px, ow, sx))
    )
    y = moved[:, :, 0] + rows.reshape(kh, 1, oh, 1).expand(kh, kw, oh, 1).reshape(taps, oh, 1)
    x = moved[:, :, 1] + columns.reshape(1, kw, 1, ow).expand(kh, kw, 1, ow).reshape(taps, 1, ow)
    grid = rushlight.stack([(2 * x + 1) / w - 1, (2 * y + 1) / h - 1], -1)
    images = input.reshape(n * parts, c // parts, h, w)
    grid = grid.reshape(n * parts, taps * oh, ow, 2)
    found = F.grid_sample(images, grid, padding_mode="zeros", align_corners=False)
    found = found.reshape(n, parts, c // parts, taps, oh * ow)
    if mask is not None:
        found = found * mask.reshape(n, parts, 1, taps, oh * ow)
    found = found.reshape(n, groups, c // groups * taps, oh * ow)
    result = weight.reshape(1, groups, weight.shape[0] // groups, -1) @ found
    result = result.reshape(n, weight.shape[0], oh, ow)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)


class DeformConv2d(nn.Module):
    """deform_conv2d() as a layer; the offsets come with each call.

    Args:
        in_channels: of the input.
        out_channels: of the result.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: zeros around the images.
        dilation: between the elements of the kernel.
        groups: of channels, each with its own weights.
        bias: whether there is one.

    Shape: (n, in_channels, h, w) gives (n, out_channels, oh, ow).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import DeformConv2d
    >>> DeformConv2d(3, 4, 3, padding=1)(torch.zeros(1, 3, 5, 5), torch.zeros(1, 18, 5, 5)).shape
    torch.Size([1, 4, 5, 5])
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = nn.Parameter(rushlight.empty(shape))
        self.register_parameter(
            "bias", nn.Parameter(rushlight.empty(out_channels)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Uniform weights by the size of what each output sees."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan = self.weight[0].numel()
            if fan:
                nn.init.uniform_(self.bias, -1 / math.sqrt(fan), 1 / math.sqrt(fan))

    def forward(self, input, offset, mask=None):
        """The convolution, with the samples moved by `offset`."""
        options = (self.stride, self.padding, self.dilation)
        return deform_conv2d(input, offset, self.weight, self.bias, *options, mask)

    def __repr__(self):
        shown = [str(self.in_channels), str(self.out_channels)]
        shown += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        for name, usual in (("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1)):
            if getattr(self, name) != usual:
                shown.append(f"{name}={getattr(self, name)}")
        if self.bias is None:
            shown.append("bias=False")
        return f"{type(self).__name__}({', '.join(shown)})"
