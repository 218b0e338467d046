"""What weight and spectral normalisation compute: norms and the power iteration."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op
from rushlight.nn import functional as F
from rushlight.nn import modules


@op("torch")
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but one; over all of them for dim -1.

    Args:
        v: the tensor.
        pow: exponent of the norm.
        dim: the dimension that is kept; -1 for one norm of all elements.

    Shape: that of v with size 1 in all dimensions but dim; for dim -1 ().

    >>> torch.norm_except_dim(torch.ones(2, 4))
    tensor([[2.],
            [2.]])
    """
    if dim == -1:
        return v.norm(pow)
    rows = v.transpose(0, dim)
    norms = rows.reshape(rows.size(0), -1).norm(pow, 1)
    return norms.view(-1, *[1] * (v.dim() - 1)).transpose(0, dim)


def _weight_norm(v, g, dim=0):
    """v, with norms g: torch has it under this name, which older programs call."""
    return v * (g / norm_except_dim(v, 2, dim))


def as_matrix(weight, dim):
    """The weight with `dim` as rows, the others as columns."""
    if dim:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def improve_left(matrix, u, v, eps):
    """Half a power iteration: u, in place, from v."""
    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))


def improve_right(matrix, u, v, eps):
    """The other half: v, in place, from u."""
    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))


def output_dim(module):
    """Which dimension of a weight counts the outputs."""
    transposed = (modules.ConvTranspose1d, modules.ConvTranspose2d, modules.ConvTranspose3d)
    return 1 if isinstance(module, transposed) else 0


def first_vectors(matrix, eps):
    """Two random vectors of norm 1, to begin the power iteration with."""
    u, v = (_C.empty(n, dtype=matrix.dtype, device=matrix.device).normal_() for n in matrix.shape)
    return F.normalize(u, dim=0, eps=eps), F.normalize(v, dim=0, eps=eps)
