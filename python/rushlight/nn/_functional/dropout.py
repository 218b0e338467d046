"""Dropout of whole channels, by the number of their dimensions."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Truth, op


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _by_channel(input, p, training, inplace, spatial):
    """Drops whole channels; an input without a batch gets one for the time being."""
    _check(p)
    drop = _C.feature_dropout_ if inplace else _C.feature_dropout
    if spatial and input.dim() < spatial + 2:
        return drop(input.unsqueeze(0), p, training).squeeze(0)
    return drop(input, p, training)


@op("nn.functional")
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: Truth = False
) -> Tensor:
    """Dropout of whole channels (Tompson et al., 2015).

    Args:
        p: probability that a channel is zeroed.
        training: whether anything is dropped.
        inplace: write the result over the input.

    Shape: (n, c, l) or (c, l) to the same.

    >>> torch.nn.functional.dropout1d(torch.ones(1, 1, 2), 1.0)
    tensor([[[0., 0.]]])
    """
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with 1 "
            "spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _by_channel(input, p, training, inplace, 1)


def _warn_rank(name, input, ranks, spatial):
    if input.dim() not in ranks:
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will "
            "result in an error in a future release.",
            stacklevel=3,
        )


@op("nn.functional")
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: Truth = False
) -> Tensor:
    """Dropout of whole channels of images (Tompson et al., 2015).

    Args:
        p: probability that a channel is zeroed.
        training: whether anything is dropped.
        inplace: write the result over the input.

    Shape: (n, c, h, w) or (n, c, l) to the same.

    >>> torch.nn.functional.dropout2d(torch.ones(1, 1, 1, 2), 1.0)
    tensor([[[[0., 0.]]]])
    """
    _check(p)
    _warn_rank("dropout2d", input, (3, 4), 2)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
            "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
            "the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _by_channel(input, p, training, inplace, 0)


@op("nn.functional")
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: Truth = False
) -> Tensor:
    """Dropout of whole channels of volumes.

    Args:
        p: probability that a channel is zeroed.
        training: whether anything is dropped.
        inplace: write the result over the input.

    Shape: (n, c, d, h, w) or (c, d, h, w) to the same.

    >>> torch.nn.functional.dropout3d(torch.ones(1, 1, 1, 1, 2), 1.0).sum()
    tensor(0.)
    """
    _check(p)
    _warn_rank("dropout3d", input, (4, 5), 3)
    return _by_channel(input, p, training, inplace, 3)
