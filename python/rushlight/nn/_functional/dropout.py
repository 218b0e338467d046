"""Dropout and its relatives."""

import warnings

from rushlight import _C

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Sets each element to 0 with probability p and scales the rest by 1 / (1 - p).

    >>> torch.nn.functional.dropout(torch.ones(2), 0.5, training=False)
    tensor([1., 1.])
    """
    _check(p)
    return (_C.dropout_ if inplace else _C.dropout)(input, p, training)


def _by_channel(input, p, training, inplace, spatial):
    """Drops whole channels; an input without a batch gets one for the time being."""
    _check(p)
    op = _C.feature_dropout_ if inplace else _C.feature_dropout
    if spatial and input.dim() < spatial + 2:
        return op(input.unsqueeze(0), p, training).squeeze(0)
    return op(input, p, training)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of a (n, c, l) or (c, l) input.

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


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of a (n, c, h, w) input.

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


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of a (n, c, d, h, w) or (c, d, h, w) input.

    >>> torch.nn.functional.dropout3d(torch.ones(1, 1, 1, 1, 2), 1.0).sum()
    tensor(0.)
    """
    _check(p)
    _warn_rank("dropout3d", input, (4, 5), 3)
    return _by_channel(input, p, training, inplace, 3)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1 behind a SELU (Klambauer et al., 2017).

    >>> torch.nn.functional.alpha_dropout(torch.ones(2), 0.5)
    tensor([1., 1.])
    """
    _check(p)
    return (_C.alpha_dropout_ if inplace else _C.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels.

    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 2), 0.5)
    tensor([[1., 1.]])
    """
    _check(p)
    op = _C.feature_alpha_dropout_ if inplace else _C.feature_alpha_dropout
    return op(input, p, training)
