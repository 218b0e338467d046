"""Transforms to triangular and positive definite matrices, and to probabilities."""

import math

from rushlight import _C
from rushlight._type_info import finfo
from rushlight.distributions import constraints
from rushlight.distributions._transform_base import Transform
from rushlight.distributions._vector_transforms import LowerCholeskyTransform
from rushlight.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from rushlight.nn.functional import pad, softplus


def _below_the_diagonal(size):
    return size * (size - 1) // 2


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1) / 2 elements to lower Cholesky factors of n x n correlation matrices.

    tanh(x) are the canonical partial correlations, row by row.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: x (*, n (n - 1) / 2) gives y (*, n, n).

    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(-1 + eps, 1 - eps), diag=-1)
        left = (1 - partial.square()).sqrt().cumprod(-1)  # what is left of each row's length
        size = partial.shape[-1]
        partial = partial + _C.eye(size, dtype=x.dtype, device=x.device)
        return partial * pad(left[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y):
        left = pad((1 - y.square().cumsum(-1))[..., :-1], [1, 0], value=1.0)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y):
        """ln |dy / dx|: of the rows' lengths, and of tanh."""
        left = tril_matrix_to_vec(1 - y.square().cumsum(-1), diag=-2)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape):
        """(..., n, n)"""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if _below_the_diagonal(size) != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return _C.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape):
        """(..., n (n - 1) / 2)"""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return _C.Size((*shape[:-2], _below_the_diagonal(shape[-1])))


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones: L L^T, with L the LowerCholeskyTransform of x.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: x (*, n, n) gives y of the same shape.

    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y):
        from rushlight.linalg import cholesky

        return LowerCholeskyTransform().inv(cholesky(y))


class CumulativeDistributionTransform(Transform):
    """Values of a distribution to probabilities, by its cdf().

    Args:
        distribution: a distribution with cdf() and icdf().
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x.

    >>> D = torch.distributions
    >>> D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        """The log of the density."""
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size=1):
        """The same transform with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)
