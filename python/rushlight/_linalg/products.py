"""Products and powers of matrices, and what is written with them."""

from rushlight import _C
from rushlight._broadcasting import broadcast_tensors
from rushlight._linalg import factors, solving
from rushlight._results import check_tensors, deliver, wrapped


def matmul(input, other, *, out=None):
    """torch.matmul().

    >>> torch.linalg.matmul(torch.eye(2), torch.ones(2))
    tensor([1., 1.])
    """
    return _C.matmul(input, other, out=out)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """torch.diagonal() of the last two dimensions.

    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return _C.diagonal(A, offset, dim1, dim2)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of three elements along dim.

    >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    check_tensors("linalg_cross", input=input, other=other)
    if input.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions.\n"
            f"got {tuple(input.shape)} and {tuple(other.shape)}"
        )
    dim = wrapped(dim, input.dim())
    if input.dim() == 0 or input.shape[dim] != 3 or other.shape[dim] != 3:
        sizes = [x.shape[dim] if x.dim() else 1 for x in (input, other)]
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and "
            f"{sizes[1]}"
        )
    if input.dtype == _C.bool or other.dtype == _C.bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    a, b = broadcast_tensors(input, other)
    (a0, a1, a2), (b0, b1, b2) = a.unbind(dim), b.unbind(dim)
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return deliver("linalg_cross", _C.stack(parts, dim), out)


def vecdot(x, y, *, dim=-1, out=None):
    """The sum of products along dim.

    >>> torch.linalg.vecdot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_tensors("linalg_vecdot", x=x, y=y)
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{x.dtype} and y of type {y.dtype} instead"
        )
    if not x.is_floating_point():
        result = (x * y).sum(dim)
        return deliver("linalg_vecdot", result.to(x.dtype), out)
    product = x * y
    dim = wrapped(dim, product.dim())
    if product.dim() == 0:
        return deliver("linalg_vecdot", product, out)
    a, b = (t.movedim(dim, -1) for t in broadcast_tensors(x, y))
    result = (a.unsqueeze(-2) @ b.unsqueeze(-1)).squeeze((-2, -1))
    return deliver("linalg_vecdot", result, out)


def matrix_power(A, n, *, out=None):
    """A multiplied with itself n times; of the inverse where n is negative.

    >>> torch.linalg.matrix_power(torch.tensor([[1, 1], [0, 1]]), 3)
    tensor([[1, 3],
            [0, 1]])
    """
    check_tensors("linalg_matrix_power", A=A)
    import operator

    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        ) from None
    if not -(2**63) <= n < 2**63:
        raise RuntimeError(f"Overflow when unpacking long long: n is {n}")
    if A.dim() < 2:
        raise RuntimeError(
            "linalg.matrix_power: The input tensor A must have at least 2 dimensions."
        )
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )
    if n < 0:
        A, n = solving.inv(A), -n
    result = None
    while n:
        if n & 1:
            result = A if result is None else result @ A
        n >>= 1
        if n:
            A = A @ A
    if result is None:
        one = _C.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        result = one.where(_C.ones_like(A, dtype=_C.bool, requires_grad=False), A)  # A's history
    return deliver("linalg_matrix_power", result, out)


def multi_dot(tensors, *, out=None):
    """The product of several matrices, in the order that costs least.

    Args:
        tensors: matrices; the first and last may be vectors.

    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
    tensor([12., 12.])
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            "linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            + type(tensors).__name__
        )
    list_of = list(tensors)
    if len(list_of) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(list_of)}")
    check_tensors("linalg_multi_dot", **{f"tensors[{i}]": t for i, t in enumerate(list_of)})
    for i, t in enumerate(list_of):
        ends = i in (0, len(list_of) - 1)
        if t.dim() != 2 and not (ends and t.dim() == 1):
            kind = "1D or 2D" if ends else "2D"
            raise RuntimeError(f"multi_dot(): tensor {i} must be {kind} but got {t.dim()}D")
        if t.dtype != list_of[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{list_of[0].dtype} and tensor {i} {t.dtype}"
            )
        if t.device != list_of[0].device:
            raise RuntimeError(
                "multi_dot(): all tensors must be on the same device but tensor 0 is on "
                f"{list_of[0].device} and tensor {i} on {t.device}"
            )
    row, column = list_of[0].dim() == 1, list_of[-1].dim() == 1
    if row:
        list_of[0] = list_of[0].unsqueeze(0)
    if column:
        list_of[-1] = list_of[-1].unsqueeze(-1)
    sizes = [list_of[0].shape[0]]
    for i, t in enumerate(list_of):
        if i and t.shape[0] != sizes[-1]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(tensors[i - 1].shape)} "
                f"and {list(tensors[i].shape)} cannot be multiplied"
            )
        sizes.append(t.shape[1])
    result = _multiplied(list_of, sizes)
    if row:
        result = result.squeeze(0)
    if column:
        result = result.squeeze(-1)
    return deliver("linalg_multi_dot", result, out)


def _multiplied(matrices, sizes):
    """By the classic dynamic programme over where to split the chain."""
    n = len(matrices)
    if n > 200:  # the programme takes n^3 steps
        from functools import reduce

        return reduce(_C.matmul, matrices)
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i, j):
        if i == j:
            return matrices[i]
        k = cut[i][j]
        return product(i, k) @ product(k + 1, j)

    return product(0, n - 1)


def matrix_exp(A):
    """The sum of A^k / k! over all k: by scaling, Pade's approximant of degree 13 and squaring.

    >>> torch.linalg.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    check_tensors("linalg_matrix_exp", A=A)
    if A.dtype in (_C.float16, _C.bfloat16):
        return matrix_exp(A.float()).to(A.dtype)
    _C._linalg_check("linalg.matrix_exp", A, True)
    if A.numel() == 0:
        return A.clone()
    import math

    wide = A.double()
    norm = wide.detach().abs().sum(-2).amax(-1)
    largest = norm.max().item()
    steps = max(0, math.ceil(math.log2(largest / 5.4))) if 5.4 < largest < math.inf else 0
    x = wide / 2.0**steps
    b = [64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
         129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
         40840800.0, 960960.0, 16380.0, 182.0, 1.0]  # fmt: skip
    one = _C.eye(A.shape[-1], dtype=x.dtype, device=A.device)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2
    odd = x @ (odd + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    result = _C._linalg_solve("linalg.matrix_exp", even - odd, even + odd)[0]
    for _ in range(steps):
        result = result @ result
    return result.to(A.dtype)


def vander(x, *, N=None):
    """The powers of x, from 0 to N - 1, as columns.

    >>> torch.linalg.vander(torch.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    check_tensors("linalg_vander", x=x)
    x = x if x.dim() else x.reshape(1)
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1. Got {n}")
    if x.dtype == _C.bool:
        raise NotImplementedError("linalg.vander: bool is no number")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    one = _C.ones((*x.shape, 1), dtype=powers.dtype, device=x.device)
    return _C.cat([one, powers], -1)


def tensorinv(A, ind=2, *, out=None):
    """The inverse of A seen as a matrix whose rows are its first `ind` dimensions.

    >>> torch.linalg.tensorinv(torch.eye(4).reshape(4, 2, 2), ind=1).shape
    torch.Size([2, 2, 4])
    """
    check_tensors("linalg_tensorinv", A=A)
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind' argument.")
    rows, columns = list(A.shape[:ind]), list(A.shape[ind:])
    m, n = _C.Size(rows).numel(), _C.Size(columns).numel()
    if m != n:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {n} != {m}"
        )
    inverse, info = solving.inv_ex(A.reshape(m, n))
    if info.any():
        raise factors.LinAlgError(
            "linalg.tensorinv: Failed to invert the input tensor, because it is singular."
        )
    return deliver("linalg_tensorinv", inverse.reshape(columns + rows), out)


def tensorsolve(A, B, dims=None, *, out=None):
    """The x with tensordot(A, x, x.dim()) = B.

    Args:
        dims: dimensions of A that are moved to its end first.

    >>> torch.linalg.tensorsolve(torch.eye(4).reshape(4, 2, 2), torch.ones(4)).shape
    torch.Size([2, 2])
    """
    check_tensors("linalg_tensorsolve", A=A, B=B)
    if dims is not None:
        count = len(dims)
        A = A.movedim(tuple(dims), tuple(range(A.dim() - count, A.dim())))
    shape = list(A.shape[B.dim() :])
    n = _C.Size(shape).numel()
    if n != B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {n} != {B.numel()}"
        )
    x = solving.solve(A.reshape(B.numel(), n), B.reshape(-1))
    return deliver("linalg_tensorsolve", x.reshape(shape), out)
