"""Wishart: random positive definite matrices."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._covariance import OtherForms, factor_of, only_form
from rushlight.distributions.chi2 import Chi2
from rushlight.distributions.exp_family import ExponentialFamily
from rushlight.functional import broadcast_shapes


class Wishart(OtherForms, ExponentialFamily):
    """The distribution of the sum of df squares x x^T of normal vectors of covariance V.

    Draws are Bartlett's decomposition (1933).

    Args:
        df: above p - 1, shape (*).
        covariance_matrix: V, shape (*, p, p); or
        precision_matrix: its inverse; or
        scale_tril: its lower Cholesky factor.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: df (*) and a matrix (*, p, p) for the batch shape (*); an event is (p, p).

    Raises:
        AssertionError: if not just one of the matrices is given.
        ValueError: if df is too small, or the matrix has too few dimensions.

    >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support = constraints.positive_definite
    has_rsample = True

    def __init__(
        self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        name, matrix = only_form(AssertionError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if not isinstance(df, _C.Tensor):
            df = _C.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = tuple(broadcast_shapes(df.shape, matrix.shape[:-2]))
        size = matrix.shape[-1]
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.df = df.expand(batch)
        if (self.df <= size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        self.arg_constraints = {
            **type(self).arg_constraints, "df": constraints.greater_than(size - 1)
        }  # fmt: skip
        super().__init__(batch, matrix.shape[-2:], validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        offset = _C.arange(size, dtype=self.df.dtype, device=self.df.device)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - offset)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        made._chi2 = self._chi2.expand((*batch_shape, self._event_shape[0]))
        return made

    def _of_matrix(self, value):
        return value.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self):
        """df V"""
        return self._of_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self):
        """(df - p - 1) V, NaN where that is not positive."""
        factor = self.df - self._event_shape[0] - 1
        return self._of_matrix(factor.masked_fill(factor <= 0, float("nan"))) * (
            self.covariance_matrix
        )

    @property
    def variance(self):
        """The variance of each element."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._of_matrix(self.df) * (v.square() + outer)

    def _drawn(self, sample_shape):
        size = self._event_shape[0]
        roots = self._chi2.rsample(sample_shape).sqrt().diag_embed()
        mask = _C.ones((size, size), dtype=_C.bool, device=roots.device).tril(-1)
        lower = _C.randn(
            (*roots.shape[:-2], size * (size - 1) // 2), dtype=roots.dtype, device=roots.device
        )
        below = _C.zeros_like(roots.detach())
        below[..., mask] = lower
        factor = self._unbroadcasted_scale_tril @ (roots + below)
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Draws through which gradients flow.

        A seed gives the numbers that it gives in torch, which draws anew what is positive definite
        (its test for what is not has the other sign), and then what is not.

        Args:
            sample_shape: how many draws.
            max_try_correction: how often at most it draws anew; 10 times if None.
        """
        found = self._drawn(tuple(sample_shape))
        again = self._of_batches(self.support.check(found.detach()))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            fresh = self._drawn((int(again.sum()),))
            found[again] = fresh
            again[again.clone()] = self._of_batches(~self.support.check(fresh.detach()))
        return found

    def _of_batches(self, each):
        # Of each draw, whether it is so for a matrix of its batch.
        return each.flatten(-len(self._batch_shape)).any(-1) if self._batch_shape else each

    def _log_root_of_determinant(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        from rushlight.linalg import slogdet, solve_triangular
        from rushlight.special import multigammaln

        self._check_value(value)
        size = self._event_shape[0]
        root = solve_triangular(self._unbroadcasted_scale_tril, value, upper=False)
        trace = solve_triangular(self._unbroadcasted_scale_tril, root.mT, upper=False).diagonal(
            dim1=-2, dim2=-1
        )
        return (
            -self.df * (size * math.log(2) / 2 + self._log_root_of_determinant())
            - multigammaln(self.df / 2, size)
            + (self.df - size - 1) / 2 * slogdet(value).logabsdet
            - trace.sum(-1) / 2
        )

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (-self.precision_matrix / 2, (self.df - self._event_shape[0] - 1) / 2)

    def _log_normalizer(self, x, y):
        from rushlight.linalg import slogdet
        from rushlight.special import multigammaln

        size = self._event_shape[0]
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - slogdet(-2 * x).logabsdet) + multigammaln(half, size)

    def entropy(self):
        """The entropy, in nats."""
        from rushlight.special import multigammaln

        size, half = self._event_shape[0], self.df / 2
        offset = _C.arange(size, dtype=half.dtype, device=half.device) / 2
        slopes = _C.digamma(half.unsqueeze(-1) - offset).sum(-1)
        scale = size * math.log(2) / 2 + self._log_root_of_determinant()
        return (
            (size + 1) * scale + multigammaln(half, size)
            - (self.df - size - 1) / 2 * slopes + self.df * size / 2
        )  # fmt: skip
