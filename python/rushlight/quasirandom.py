"""Quasi-random numbers: the points of a Sobol sequence, as torch's engine gives them.

The direction numbers are those of Joe and Kuo, which SciPy has too; they are read from there when
the first engine is made. Everything else is here, so that seeds give torch's scrambled points.
"""

from __future__ import annotations

import rushlight
from rushlight import _C

__all__ = ["SobolEngine"]


def direction_numbers(dimension: int, bits: int):
    """(dimension, bits) integers of `bits` bits."""
    try:
        from scipy.stats import qmc  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            "SobolEngine reads the direction numbers of the sequence from SciPy, which is not "
            "installed\nInstall it: pip install scipy"
        ) from error
    numbers = qmc.Sobol(dimension, scramble=False, bits=bits)._sv
    return rushlight.tensor(numbers.astype("int64"))


class SobolEngine:
    r"""Draws the points of a Sobol sequence, which fill the unit cube evenly.

    Args:
        dimension: of the points, at most 21201.
        scramble: if True, the points are scrambled at random, by a lower triangular matrix per
            dimension and a shift (Owen).
        seed: of the scrambling; None draws from the default generator.

    Raises:
        ImportError: SciPy, which has the direction numbers, is not installed.

    Example:
        >>> torch.quasirandom.SobolEngine(dimension=2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = direction_numbers(dimension, self.MAXBIT)
        self.shift = rushlight.zeros(dimension, dtype=rushlight.int64)
        if scramble:
            self._scramble()
        self.num_generated: int = 0
        self.reset()

    def draw(
        self,
        n: int = 1,
        out: _C.Tensor | None = None,
        dtype: _C.dtype | None = None,
    ) -> _C.Tensor:
        """The next n points.

        Args:
            n: how many.
            out: a tensor that receives them.
            dtype: of the result; the default dtype if None.

        Returns:
            A tensor of shape (n, dimension), values in [0, 1).
        """
        points = self._points(self.num_generated, n)
        if n > 0:
            self.quasi, self.num_generated = points[-1].clone(), self.num_generated + n
        result = points.to(dtype or rushlight.get_default_dtype()) / 2**self.MAXBIT
        if out is None:
            return result
        return out.resize_(result.shape).copy_(result)

    def draw_base2(
        self,
        m: int,
        out: _C.Tensor | None = None,
        dtype: _C.dtype | None = None,
    ) -> _C.Tensor:
        """The next 2**m points, if the number drawn so far keeps the sequence balanced.

        Args:
            m: the logarithm of their number, to base 2.
            out: a tensor that receives them.
            dtype: of the result; the default dtype if None.

        Raises:
            ValueError: the number drawn in all would not be a power of 2.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, "
                "please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Starts the sequence again, with the same scrambling."""
        self.quasi, self.num_generated = self.shift.clone(), 0
        return self

    def fast_forward(self, n: int):
        """Leaves out the next n points.

        Args:
            n: how many.
        """
        self.num_generated += n
        if self.num_generated:
            self.quasi = self._points(self.num_generated - 1, 1)[0].clone()
        return self

    def _points(self, first: int, n: int):
        """Points first to first + n as integers: the numbers of their index's Gray code, xored."""
        if first + n > 2**self.MAXBIT:
            raise ValueError(f"a Sobol sequence of {self.MAXBIT} bits has 2**{self.MAXBIT} points")
        index = rushlight.arange(first, first + n)
        gray = index ^ (index >> 1)
        points = self.shift.repeat(n, 1)
        for k in range((first + n).bit_length()):
            points ^= ((gray >> k) & 1)[:, None] * self.sobolstate[:, min(k, self.MAXBIT - 1)]
        return points

    def _scramble(self):
        generator = None
        if self.seed is not None:
            generator = rushlight.Generator().manual_seed(self.seed)
        bits, size = self.MAXBIT, self.dimension
        draws = rushlight.randint(2, (size, bits), generator=generator)
        self.shift = (draws << rushlight.arange(bits)).sum(-1)
        lower = rushlight.randint(2, (size, bits, bits), generator=generator).tril()
        lower.diagonal(dim1=-2, dim2=-1).fill_(1)
        high_first = rushlight.arange(bits - 1, -1, -1)
        digits = (self.sobolstate[:, :, None] >> high_first) & 1
        mixed = (digits.float() @ lower.float().transpose(-2, -1)).long() & 1
        self.sobolstate = (mixed << high_first).sum(-1)

    def __repr__(self):
        shown = [f"dimension={self.dimension}"]
        if self.scramble:
            shown.append("scramble=True")
        if self.seed is not None:
            shown.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(shown)})"
