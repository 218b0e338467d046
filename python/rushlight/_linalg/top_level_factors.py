"""torch.cholesky, torch.lu, ...: factorisations and solving with the older signatures of the top
level; torch.linalg has the newer ones."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._linalg.solving import NO_INVERSE
from rushlight._table import op
from rushlight._warn_once import warn_once
from rushlight.autograd.function import Function

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "orgqr",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
]


@op("torch", "Tensor", out=True, exact=True)
def cholesky(input: Tensor, upper: bool = False):
    """torch.linalg.cholesky(): L with input = L L^H.

    >>> torch.cholesky(torch.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    from rushlight import linalg

    warn_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\n"
        "L = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\n"
        "should be replaced with\nU = torch.linalg.cholesky(A).mH"
    )
    return linalg.cholesky(input, upper=upper)


@op("torch", "Tensor", out=True, node="CholeskySolveBackward0")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False):
    """The x with A x = input, where A = L L^H, or L^H L with upper.

    Args:
        input2: the triangular factor, (*, n, n).
        upper: whether it is the upper one.

    Shape: input (*, n, k) and input2 (*, n, n) give (*, n, k); the * broadcast.

    >>> torch.cholesky_solve(torch.tensor([[4.0]]), torch.tensor([[2.0]]))
    tensor([[1.]])
    """
    name = "cholesky_solve"
    for argument, tensor in (("b", input), ("u", input2)):
        if tensor.dim() < 2:
            raise RuntimeError(
                f"{argument} should have at least 2 dimensions, but has {tensor.dim()} "
                "dimensions instead"
            )
    _C._linalg_check(name, input2, True)
    return _CholeskySolve.apply(input, input2, bool(upper))


class _CholeskySolve(Function):
    """Its gradient is that of L L^H, for the whole of L."""

    _is_operation = True

    @staticmethod
    def forward(ctx, input, L, upper):
        lower = L.mH if upper else L
        half = _C._linalg_solve_triangular("cholesky_solve", lower, input, False, False)
        x = _C._linalg_solve_triangular("cholesky_solve", lower.mH, half, True, False)
        ctx.save_for_backward(L, x)
        ctx.upper, ctx.shape = upper, input.shape
        return x

    @staticmethod
    def backward(ctx, grad):
        L, x = ctx.saved_tensors
        of_input = _CholeskySolve.apply(grad, L, ctx.upper)
        product = of_input @ x.mH
        both = product + product.mH
        of_factor = -(L @ both) if ctx.upper else -(both @ L)
        return of_input.sum_to_size(ctx.shape), of_factor.sum_to_size(L.shape), None


@op("torch", "Tensor", out=True, node="CholeskyInverseBackward0")
def cholesky_inverse(input: Tensor, upper: bool = False):
    """The inverse of A = L L^H, or L^H L with upper.

    Args:
        input: the triangular factor, (*, n, n).
        upper: whether it is the upper one.

    Shape: (*, n, n) gives the same.

    >>> torch.cholesky_inverse(torch.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    _C._linalg_check("cholesky_inverse", input, True)
    if input.numel() and not input.is_meta:
        zero = input.diagonal(0, -2, -1) == 0
        info = (zero.to(_C.int32).argmax(-1) + 1) * zero.any(-1)
        _C._linalg_check_info("cholesky_inverse", info.to(_C.int32), NO_INVERSE)
    one = _C.eye(input.shape[-1], dtype=input.dtype, device=input.device).expand(input.shape)
    return cholesky_solve(one, input, upper)


@op("torch", "Tensor", out=True, returns="Q, R")
def qr(input: Tensor, some: bool = True):
    """torch.linalg.qr().

    >>> torch.qr(torch.eye(2)).R.abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    from rushlight import linalg

    warn_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\nThe boolean parameter 'some' has been replaced with a string parameter "
        "'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return linalg.qr(input, "reduced" if some else "complete")


@op("torch", "Tensor", out=True, returns="U, S, V")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True):
    """U, S and V (not V^H) with input = U diag(S) V^H.

    Args:
        some: U (*, m, k) and V (*, n, k), k = min(m, n); else square ones.
        compute_uv: False gives zeros for U and V.

    Shape: input (*, m, n) gives U (*, m, k), S (*, k) and V (*, n, k), k = min(m, n); without some
        U (*, m, m) and V (*, n, n).

    >>> torch.svd(torch.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """
    if input.dim() < 2:
        raise RuntimeError("linalg.svd: The input tensor A must have at least 2 dimensions.")
    if compute_uv:
        u, s, vh = _C._linalg_svd("linalg.svd", input, not some, True)
        return (u, s, vh.mH)
    s = _C._linalg_svd("linalg.svd", input, False, False)[1]
    m, n = input.shape[-2:]
    u, v = (input.new_zeros((*input.shape[:-2], size, size)) for size in (m, n))
    return (u, s, v)


@op("torch", "Tensor")
def det(input: Tensor):
    """torch.linalg.det().

    >>> torch.det(torch.tensor([[2.0, 1.0], [0.0, 4.0]]))
    tensor(8.)
    """
    from rushlight import linalg

    return linalg.det(input)


@op("torch", "Tensor", out=True, returns="sign, logabsdet")
def slogdet(input: Tensor):
    """torch.linalg.slogdet().

    >>> torch.slogdet(torch.eye(2)).logabsdet
    tensor(0.)
    """
    from rushlight import linalg

    return linalg.slogdet(input)


@op("torch", "Tensor")
def logdet(input: Tensor):
    """The logarithm of the determinant; NaN where that is negative.

    Shape: (*, n, n) gives (*).

    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    from rushlight import linalg

    sign, logabsdet = linalg.slogdet(input)
    if input.is_complex():
        return sign.log() + logabsdet
    return _C.where(sign == -1, float("nan"), logabsdet)


@op("torch", "Tensor", out=True)
def inverse(input: Tensor):
    """torch.linalg.inv().

    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    from rushlight import linalg

    return linalg.inv(input)


@op("torch", "Tensor")
def pinverse(input: Tensor, rcond=1e-15):
    """torch.linalg.pinv().

    >>> torch.pinverse(torch.tensor([[2.0, 0.0]]))
    tensor([[0.5000],
            [0.0000]])
    """
    from rushlight import linalg

    return linalg.pinv(input, rcond)


@op("torch", "Tensor", out=True, returns="solution, cloned_coefficient")
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
):
    """The x with A x = input (or A^H x = input), for a triangular A; with a copy of A.

    Args:
        A: triangular matrices, (*, n, n).
        upper: which triangle A is.
        transpose: solve with A^H.
        unitriangular: take A's diagonal as ones.

    Shape: input (*, n, k) and A (*, n, n) give solution (*, n, k) and cloned_coefficient (*, n, n).

    >>> torch.triangular_solve(torch.tensor([[4.0]]), torch.tensor([[2.0]])).solution
    tensor([[2.]])
    """
    warn_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will "
        "be removed in a future PyTorch release.\ntorch.linalg.solve_triangular has its arguments "
        "reversed and does not return a copy of one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    )
    for argument, tensor in (("b", input), ("A", A)):
        if tensor.dim() < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {argument} to have at least 2 dimensions, but "
                f"it has {tensor.dim()} dimensions instead"
            )
    left = A.mH if transpose else A
    x = _C._linalg_solve_triangular(
        "triangular_solve", left, input, upper != bool(transpose), unitriangular
    )
    batch = x.shape[:-2]
    return (x, A.expand(*batch, *A.shape[-2:]).mT.clone(memory_format=_C.contiguous_format).mT)


@op("torch", "Tensor", out=True)
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False):
    """L and U packed in one matrix, and the exchanges of rows, counted from 1.

    Args:
        A: matrices, (*, m, n).
        pivot: True; False, without exchanges of rows, is not available.
        get_infos: return also 0, or the 1-based index of a zero on U's diagonal.

    Shape: A (*, m, n) gives A_LU (*, m, n) and pivots (*, k), k = min(m, n); infos are (*).

    >>> torch.lu(torch.eye(2))[1]
    tensor([1, 2], dtype=torch.int32)
    """
    from rushlight import linalg

    warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and "
        "will be removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\n"
        "should be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)"
    )
    packed, pivots, info = linalg.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    return (packed, pivots, info) if get_infos else (packed, pivots)


@op("torch", "Tensor", out=True, exact=True)
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor):
    """torch.linalg.lu_solve().

    >>> torch.lu_solve(torch.ones(2, 1), *torch.lu(torch.eye(2)))
    tensor([[1.],
            [1.]])
    """
    from rushlight import linalg

    warn_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
        "future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)"
    )
    return linalg.lu_solve(LU_data, LU_pivots, input)


@op("torch", out=True, returns="P, L, U")
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
):
    """The P, L and U of what lu() returned.

    Args:
        LU_data, LU_pivots: what lu() returned.
        unpack_data, unpack_pivots: False leaves L and U, or P, empty.

    Shape: LU_data (*, m, n) and LU_pivots (*, k), k = min(m, n), give P (*, m, m), L (*, m, k) and
        U (*, k, n).

    >>> torch.lu_unpack(*torch.lu(torch.eye(2)))[2]
    tensor([[1., 0.],
            [0., 1.]])
    """
    from rushlight._linalg import factors

    if unpack_pivots and LU_pivots.dtype != _C.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
        )
    return factors.unpacked(LU_data, LU_pivots, unpack_data, unpack_pivots)


@op("torch", "Tensor", out=True)
def orgqr(input: Tensor, input2: Tensor):
    """torch.linalg.householder_product().

    >>> torch.orgqr(torch.eye(2), torch.zeros(2)).abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    from rushlight import linalg

    return linalg.householder_product(input, input2)
