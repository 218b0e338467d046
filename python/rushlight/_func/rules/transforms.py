"""Fourier transforms under vmap(): of the dimensions behind the batch's."""

from rushlight._arguments import wrapped
from rushlight._func.dispatch import rule
from rushlight._func.rules.reductions import shifted


@rule("fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft")
def one(level, func, input, n=None, dim=-1, norm=None):
    """Of one dimension."""
    if not input.dim():
        return NotImplemented
    return level.batched(func(input._value, n, wrapped(dim, input.dim()) + 1, norm))


@rule("fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn fft_ihfftn")
def several(level, func, input, s=None, dim=None, norm=None):
    """Of several dimensions: those of an element, or its last ones that s names."""
    rank = input.dim()
    count = rank if s is None else 1 if isinstance(s, int) else len(s)
    if dim is None:
        if count > rank:
            return NotImplemented
        dim = range(rank - count, rank)
    return level.batched(func(input._value, s, shifted([dim] if isinstance(dim, int) else
                                                       tuple(dim), rank), norm))  # fmt: skip


@rule("fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 fft_ihfft2")
def two(level, func, input, s=None, dim=(-2, -1), norm=None):
    """Of two dimensions."""
    return several(level, func, input, s, dim, norm)
