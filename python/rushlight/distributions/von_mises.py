"""VonMises: random angles."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, broadcast_all

# Beyond it the rejected angles cannot be told from the accepted ones in double precision, and the
# distribution is a normal one.
_SHARP = 1e13


def _log_i0(x):
    from rushlight.special import i0e

    return i0e(x).log() + x.abs()


class VonMises(Distribution):
    """The distribution of angles of density proportional to exp(concentration cos(x - loc)).

    Draws are those of Best and Fisher (Efficient simulation of the von Mises distribution, 1979).

    Args:
        loc: the mean angle, in radians.
        concentration: the larger, the closer to it; positive.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and concentration broadcast to the batch shape; an event is ().

    >>> torch.distributions.VonMises(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        k = self.concentration
        return k * _C.cos(value - self.loc) - math.log(2 * math.pi) - _log_i0(k)

    def sample(self, sample_shape=()):
        """Draws, from -pi to pi; without gradients."""
        from rushlight._grad_mode import no_grad

        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc = self.loc.double().expand(shape)
            k = self.concentration.double().expand(shape)
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = _C.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
            angle = _C.zeros(shape, dtype=k.dtype, device=k.device)
            sharp = k > _SHARP
            angle = _C.where(sharp, _C.randn_like(k) / k.sqrt(), angle) if sharp.any() else angle
            # Of parameters that were not checked.
            lost = ~loc.isfinite() | ~(k > 0) | ~(sharp | r.isfinite())
            done = lost | sharp
            while not done.all():
                turn, level, side = _C.rand((3, *shape), dtype=k.dtype, device=k.device).unbind()
                z = _C.cos(math.pi * turn)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - level) > 0) | ((c / level).log() + 1 - c >= 0)
                angle = _C.where(accept, (side - 0.5).sign() * f.acos(), angle)
                done = done | accept
            drawn = (angle + math.pi + loc) % (2 * math.pi) - math.pi
            return drawn.masked_fill(lost, float("nan")).to(self.loc.dtype)

    @property
    def mean(self):
        """loc"""
        return self.loc

    mode = mean

    @property
    def variance(self):
        """The circular variance, from 0 to 1."""
        from rushlight.special import i0e, i1e

        return 1 - i1e(self.concentration) / i0e(self.concentration)
