"""LowRankMultivariateNormal: normal vectors of a covariance with few large directions."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution
from rushlight.functional import broadcast_shapes


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors of covariance W W^T + diag(D).

    Densities take the Cholesky factor of an m x m matrix (Woodbury's identity).

    Args:
        loc: the mean, shape (*, n).
        cov_factor: W, shape (*, n, m) with m much smaller than n.
        cov_diag: D, positive, shape (*, n).
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and cov_diag (*, n), cov_factor (*, n, m) for the batch shape (*); an event is (n).

    Raises:
        ValueError: if shapes do not fit.

    >>> made = torch.distributions.LowRankMultivariateNormal(
    ...     torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)
    ... )
    >>> made.variance
    tensor([2., 1.])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        from rushlight.linalg import cholesky

        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        events = loc.shape[-1:]
        if cov_factor.shape[-2:-1] != events:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {events[0]} x m")
        if cov_diag.shape[-1:] != events:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {events}")
        try:
            batch = tuple(
                broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self.cov_diag = cov_diag.expand((*batch, -1))
        super().__init__(batch, events, validate_args)
        self._factor, self._diag = cov_factor, cov_diag
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        one = _C.eye(cov_factor.shape[-1], dtype=loc.dtype, device=loc.device)
        self._capacitance_tril = cholesky(scaled @ cov_factor + one)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch; its small matrices are not copied."""
        made = super().expand(batch_shape, _instance)
        for name in ("_factor", "_diag", "_capacitance_tril"):
            setattr(made, name, getattr(self, name))
        return made

    @property
    def mean(self):
        """loc"""
        return self.loc

    mode = mean

    @property
    def variance(self):
        """The diagonal of the covariance."""
        return self.cov_factor.square().sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self):
        """W W^T + diag(D)"""
        full = self.cov_factor @ self.cov_factor.mT + _C.diag_embed(self.cov_diag)
        return full.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    @property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        from rushlight.linalg import cholesky

        return cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self):
        """The inverse of the covariance."""
        from rushlight.linalg import solve_triangular

        scaled = self._factor.mT / self._diag.unsqueeze(-2)
        half = solve_triangular(self._capacitance_tril, scaled, upper=False)
        full = _C.diag_embed(self._diag.reciprocal()) - half.mT @ half
        return full.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    def rsample(self, sample_shape=()):
        """Draws as loc + W noise + sqrt(D) noise."""
        shape = self._extended_shape(sample_shape)
        like = {"dtype": self.loc.dtype, "device": self.loc.device}
        small = _C.randn((*shape[:-1], self.cov_factor.shape[-1]), **like)
        noise = _C.randn(shape, **like)
        along = (self._factor @ small.unsqueeze(-1)).squeeze(-1)
        return self.loc + along + self._diag.sqrt() * noise

    def _distance(self, off):
        """off^T covariance^-1 off"""
        from rushlight.linalg import solve_triangular

        scaled = self._factor.mT / self._diag.unsqueeze(-2)
        inner = (scaled @ off.unsqueeze(-1)).squeeze(-1)
        root = solve_triangular(self._capacitance_tril, inner.unsqueeze(-1), upper=False)
        return (off.square() / self._diag).sum(-1) - root.squeeze(-1).square().sum(-1)

    def _log_determinant(self):
        roots = self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 2 * roots + self._diag.log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_determinant() + self._distance(value - self.loc))

    def entropy(self):
        """The entropy, in nats."""
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_determinant())).expand(self._batch_shape)
