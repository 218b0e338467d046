"""Elementwise transforms between distributions, with their Jacobians."""

import math
import numbers

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._joined_transforms import CatTransform, StackTransform
from rushlight.distributions._matrix_transforms import (
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    PositiveDefiniteTransform,
)
from rushlight.distributions._transform_base import (
    ComposeTransform,
    Simple,
    Transform,
    _InverseTransform,  # noqa: F401 - torch has it here
    identity_transform,
    sum_last,
)
from rushlight.distributions._vector_transforms import (
    IndependentTransform,
    LowerCholeskyTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from rushlight.nn.functional import logsigmoid, softplus
from rushlight.nn.modules._class_path import settle

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class ExpTransform(Simple):
    """y = exp(x).

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> torch.distributions.ExpTransform()(torch.tensor(0.0))
    tensor(1.)
    """

    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        """x"""
        return x


def _clipped_sigmoid(x):
    """The sigmoid, inside (0, 1) where it would round to an end."""
    from rushlight import finfo

    limits = finfo(x.dtype)
    return x.sigmoid().clamp(limits.tiny, 1.0 - limits.eps)


class SigmoidTransform(Simple):
    """y = 1 / (1 + exp(-x)).

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> torch.distributions.SigmoidTransform()(torch.tensor(0.0))
    tensor(0.5000)
    """

    codomain = constraints.unit_interval

    def _call(self, x):
        return _clipped_sigmoid(x)

    def _inverse(self, y):
        from rushlight import finfo

        limits = finfo(y.dtype)
        y = y.clamp(limits.tiny, 1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        """ln y (1 - y)"""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Simple):
    """y = ln(1 + exp(x)).

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> torch.distributions.SoftplusTransform()(torch.tensor(0.0))
    tensor(0.6931)
    """

    codomain = constraints.positive

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        """ln sigmoid(x)"""
        return logsigmoid(x)


class TanhTransform(Simple):
    """y = tanh(x).

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> torch.distributions.TanhTransform()(torch.tensor(0.0))
    tensor(0.)
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        """ln(1 - y^2), from x."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; its inverse is the positive one.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> torch.distributions.AbsTransform()(torch.tensor(-2.0))
    tensor(2.)
    """

    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    """y = x^exponent for positive x.

    Args:
        exponent: a float or tensor.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: exponent and x broadcast.

    >>> torch.distributions.PowerTransform(2.0)(torch.tensor(3.0))
    tensor(9.)
    """

    bijective = True
    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        is_tensor = isinstance(exponent, _C.Tensor)
        self.exponent = exponent if is_tensor else _C.tensor(float(exponent))

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = object.__hash__

    @property
    def sign(self):
        """That of the exponent."""
        return self.exponent.sign()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        """ln |exponent y / x|"""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        """Broadcast with the exponent."""
        from rushlight.functional import broadcast_shapes

        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc: a float or tensor.
        scale: a float or tensor.
        event_dim: how many trailing dimensions are one event.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: loc, scale and x broadcast.

    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self):
        """How many trailing dimensions are one event."""
        return self._event_dim

    @property
    def domain(self):
        """Real numbers."""
        return constraints._over_last(constraints.real, self._event_dim)

    codomain = domain

    def __eq__(self, other):
        if not isinstance(other, AffineTransform):
            return False
        pairs = (self.loc, other.loc), (self.scale, other.scale)
        return all(bool(_C.as_tensor(a == b).all()) for a, b in pairs)

    __hash__ = object.__hash__

    @property
    def sign(self):
        """That of the scale."""
        if isinstance(self.scale, numbers.Real):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        """ln |scale|"""
        if isinstance(self.scale, numbers.Real):
            result = _C.full_like(x, math.log(abs(self.scale)))
        else:
            result = _C.abs(self.scale).log()
        return sum_last(result, self._event_dim).expand(x.shape[: x.dim() - self._event_dim])

    def forward_shape(self, shape):
        """Broadcast with loc and scale."""
        from rushlight.functional import broadcast_shapes

        return broadcast_shapes(shape, getattr(self.loc, "shape", ()),
                                getattr(self.scale, "shape", ()))  # fmt: skip

    inverse_shape = forward_shape


settle(globals())
