"""LKJCholesky: Cholesky factors of random correlation matrices."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.beta import Beta
from rushlight.distributions.distribution import Distribution, broadcast_all


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices M, of density proportional to det(M)^(c - 1).

    (Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and
    extended onion method, 2009, section 3.)

    Args:
        dim: the number of rows, from 2 on.
        concentration: c, positive; at 1 all correlation matrices are equally likely.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: that of concentration is the batch shape; an event is (dim, dim).

    >>> torch.distributions.LKJCholesky(3, 0.5).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeError(f"LKJCholesky(): dim must be int, not {type(dim).__name__}")
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        c = self.concentration
        row = _C.arange(dim - 1, dtype=c.dtype, device=c.device)
        row = _C.cat([row.new_zeros((1,)), row])
        half = (c + 0.5 * (dim - 2)).unsqueeze(-1)
        self._beta = Beta(row + 0.5, half - 0.5 * row, validate_args=validate_args)
        super().__init__(c.shape, (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._beta = self._beta.expand((*batch_shape, self.dim))
        return made

    def sample(self, sample_shape=()):
        """Draws, row by row; without gradients."""
        from rushlight import finfo
        from rushlight._grad_mode import no_grad

        with no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            noise = _C.randn(shape, dtype=length.dtype, device=length.device).tril(-1)
            direction = noise / noise.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0
            rows = length.sqrt() * direction
            rest = (1 - rows.square().sum(-1)).clamp(min=finfo(rows.dtype).tiny)
            return rows + _C.diag_embed(rest.sqrt())

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        from rushlight.special import multigammaln

        self._check_value(value)
        n, c = self.dim, self.concentration
        order = _C.arange(2, n + 1, device=c.device)
        power = 2 * (c - 1).unsqueeze(-1) + n - order
        roots = value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()
        alpha = c + 0.5 * (n - 1)
        norm = (
            0.5 * (n - 1) * math.log(math.pi) + multigammaln(alpha - 0.5, n - 1)
            - _C.lgamma(alpha) * (n - 1)
        )  # fmt: skip
        return (power * roots).sum(-1) - norm
