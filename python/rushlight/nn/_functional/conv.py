"""torch.convolution(): one function for all ranks, transposed or not."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op

_FORWARD = {3: _C.conv1d, 4: _C.conv2d, 5: _C.conv3d}
_TRANSPOSED = {3: _C.conv_transpose1d, 4: _C.conv_transpose2d, 5: _C.conv_transpose3d}


@op("torch")
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride,
    padding,
    dilation,
    transposed: bool,
    output_padding,
    groups: int,
):
    """conv1d() to conv3d() or conv_transpose1d() to conv_transpose3d(), by the weight's rank.

    Args:
        weight: of 3 dimensions for one of length, 4 for images, 5 for volumes.
        bias: one for each output channel, or None.
        stride, padding, dilation: as theirs, a list of ints each.
        transposed: whether it is conv_transpose1d() and its relatives.
        output_padding: as theirs; without transposed it changes nothing.
        groups: how many independent groups the channels are divided into.

    >>> torch.convolution(
    ...     torch.ones(1, 1, 4), torch.ones(1, 1, 3), None, [1], [0], [1], False, [0], 1
    ... )
    tensor([[[3., 3.]]])
    """
    functions = _TRANSPOSED if transposed else _FORWARD
    if weight.dim() not in functions:
        raise RuntimeError(
            "weight should have at least three dimensions\nconvolution(): and at most five; weight "
            f"has {weight.dim()}"
        )
    if input.dim() != weight.dim():
        raise RuntimeError(
            f"Expected {weight.dim()}-dimensional input for {weight.dim()}-dimensional weight "
            f"{list(weight.shape)}, but got {input.dim()}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed:
        settings["output_padding"] = output_padding
    return functions[weight.dim()](input, weight, bias, **settings)
