"""MultivariateNormal: normal vectors with a covariance."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._covariance import (
    OtherForms,
    _batch_mahalanobis,  # noqa: F401 - torch has it here
    _batch_mv,  # noqa: F401 - torch has it here
    _precision_to_scale_tril,  # noqa: F401 - torch has it here
    factor_of,
    only_form,
)
from rushlight.distributions.distribution import Distribution


class MultivariateNormal(OtherForms, Distribution):
    """The normal distribution of vectors.

    Args:
        loc: the mean, shape (*, n).
        covariance_matrix: symmetric and positive definite, shape (*, n, n); or
        precision_matrix: its inverse; or
        scale_tril: its lower Cholesky factor.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc (*, n) and a matrix (*, n, n) for the batch shape (*); an event is (n).

    Raises:
        ValueError: if not just one of the matrices is given, or it has too few dimensions.

    >>> made = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> made.log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        from rushlight.functional import broadcast_shapes

        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = only_form(ValueError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            title = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{title} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = tuple(broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        self.loc = loc.expand((*batch, -1))
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch; its matrix need not be copied."""
        made = super().expand(batch_shape, _instance)
        made._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return made

    @property
    def mean(self):
        """loc"""
        return self.loc

    mode = mean

    @property
    def variance(self):
        """The diagonal of the covariance."""
        variance = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return variance.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def rsample(self, sample_shape=()):
        """Draws as loc + scale_tril @ noise."""
        shape = self._extended_shape(sample_shape)
        like = {"dtype": self.loc.dtype, "device": self.loc.device}
        noise = _C.normal(_C.zeros(shape, **like), _C.ones(shape, **like))
        return self.loc + _C.matmul(self._unbroadcasted_scale_tril, noise.unsqueeze(-1)).squeeze(-1)

    def _log_root_of_determinant(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        from rushlight.linalg import solve_triangular

        self._check_value(value)
        off = (value - self.loc).unsqueeze(-1)
        scaled = solve_triangular(self._unbroadcasted_scale_tril, off, upper=False).squeeze(-1)
        squares = scaled.pow(2).sum(-1)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + squares) - self._log_root_of_determinant()

    def entropy(self):
        """The entropy, in nats."""
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + self._log_root_of_determinant()).expand(self._batch_shape)
