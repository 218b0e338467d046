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


def _keep(input, shape, p):
    """1 with probability 1 - p, else 0; drawn as torch draws its masks."""
    mask = _C.empty(shape, dtype=input.dtype, device=input.device)
    return mask.bernoulli_(1 - p)


def _by_channel(input, p, training, inplace, spatial):
    """Drops whole channels: one draw for each of the first two dimensions."""
    _check(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    batched = input.dim() >= spatial + 2
    x = input if batched else input.unsqueeze(0)
    mask = _keep(x, (*x.shape[:2], *(1 for _ in x.shape[2:])), p)
    mask = mask.div_(1 - p) if batched else mask.div_(1 - p).squeeze(0)
    return input.mul_(mask) if inplace else input * mask


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of a (n, c, l) or (c, l) input."""
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
    """Dropout of whole channels of a (n, c, h, w) input."""
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
    """Dropout of whole channels of a (n, c, d, h, w) or (c, d, h, w) input."""
    _check(p)
    _warn_rank("dropout3d", input, (4, 5), 3)
    return _by_channel(input, p, training, inplace, 3)


# Klambauer et al., 2017: the value that a SELU unit is dropped to, -scale * alpha.
_ALPHA = 1.7580993408473766


def _alpha(input, shape, p, training, inplace):
    _check(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    a = ((_ALPHA**2 * p + 1) * (1 - p)) ** -0.5
    keep = _keep(input, shape, p)
    shift = (keep - 1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
    keep = keep.mul_(a)
    return input.mul_(keep).add_(shift) if inplace else input * keep + shift


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1 behind a SELU."""
    return _alpha(input, input.shape, p, training, inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    shape = (*input.shape[:2], *(1 for _ in input.shape[2:]))
    return _alpha(input, shape, p, training, inplace)
