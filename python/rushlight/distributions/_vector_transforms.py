"""Transforms of vectors and matrices, and those that change shapes."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._transform_base import Simple, Transform, sum_last
from rushlight.nn.functional import softplus


class SoftmaxTransform(Simple):
    """y = softmax(x) over the last dimension; its inverse is the logarithm.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x (*, K).

    >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    bijective = False
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()


class LowerCholeskyTransform(Simple):
    """A square matrix to a lower triangular one with a positive diagonal, exp of x's.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: x (*, n, n) gives y of the same shape.

    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class StickBreakingTransform(Simple):
    """n real numbers to n + 1 probabilities: each a fraction of what those before leave.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: x (*, n) gives y (*, n + 1).

    >>> torch.distributions.StickBreakingTransform()(torch.zeros(1))
    tensor([0.5000, 0.5000])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _logits(self, x):
        left = x.shape[-1] + 1 - _C.ones(x.shape[-1], dtype=x.dtype, device=x.device).cumsum(-1)
        return x - left.log()

    def _call(self, x):
        from rushlight.nn.functional import pad

        share = self._logits(x).sigmoid()
        left = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1.0) * pad(left, [1, 0], value=1.0)

    def _inverse(self, y):
        from rushlight import finfo

        kept = y[..., :-1]
        count = kept.shape[-1]
        left = (1 - kept.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        after = count + 1 - _C.ones(count, dtype=y.dtype, device=y.device).cumsum(-1)
        return kept.log() - left.log() + after.log()

    def log_abs_det_jacobian(self, x, y):
        """The sum over the probabilities."""
        return (y[..., :-1].log() - softplus(self._logits(x))).sum(-1)

    def forward_shape(self, shape):
        """One more."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return _C.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape):
        """One less."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return _C.Size((*shape[:-1], shape[-1] - 1))


class IndependentTransform(Transform):
    """Another transform whose last dimensions are one event.

    Args:
        base_transform: the map.
        reinterpreted_batch_ndims: how many dimensions.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: that of base_transform's y.

    >>> D, x = torch.distributions, torch.ones(3)
    >>> D.IndependentTransform(D.ExpTransform(), 1).log_abs_det_jacobian(x, x)
    tensor(3.)
    """

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self):
        """That of the map within."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self):
        """That of the map within."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        """Whether the map within is."""
        return self.base_transform.bijective

    @property
    def sign(self):
        """That of the map within."""
        return self.base_transform.sign

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        """The sum of the map's over these dimensions."""
        inner = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_last(inner, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        """That of the map within."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        """That of the map within."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Reshapes the last dimensions.

    Args:
        in_shape: the shape before.
        out_shape: the one after, of as many elements.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: x (*, in_shape...) gives y (*, out_shape...).

    >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.zeros(3, 4)).shape
    torch.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self):
        """Real numbers."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self):
        """Real numbers."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x):
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y):
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x, y):
        """0"""
        batch = x.shape[: x.dim() - len(self.in_shape)]
        return _C.zeros(batch, dtype=x.dtype, device=x.device)

    def _swap(self, shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError("Too few dimensions on input")
        if tuple(shape[cut:]) != tuple(old):
            raise ValueError(f"Shape mismatch: expected {_C.Size(shape[cut:])} but got {old}")
        return _C.Size((*shape[:cut], *new))

    def forward_shape(self, shape):
        """With the shape after."""
        return self._swap(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        """With the shape before."""
        return self._swap(shape, self.out_shape, self.in_shape)
