"""Matrix products with sparse operands."""

from rushlight import _C
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import checked, coalesced, indices_of, summed
from rushlight._sparse.tensor import Compressed, Coordinates, coordinates, is_sparse

_FAST = (_C.float32, _C.float64)


def _entries(x):
    """(rows, columns, values) of a sparse matrix."""
    if isinstance(x, Compressed):
        return RULES["_coordinates"](x)
    if x._i.shape[0] != 2:
        raise RuntimeError(
            f"addmm: matrices expected, got {x._i.shape[0]}D tensor"
            if x._i.shape[0] != 1
            else "addmm: matrices expected, got 1D tensor"
        )
    return x._i[0], x._i[1], x._v


def _check(x, dense):
    if dense.dtype is not x._v.dtype:
        names = {_C.float32: "Float", _C.float64: "Double", _C.int64: "Long", _C.float16: "Half",
                 _C.bfloat16: "BFloat16", _C.int32: "Int"}  # fmt: skip
        raise RuntimeError(
            f"expected scalar type {names.get(x._v.dtype, x._v.dtype)} but found "
            f"{names.get(dense.dtype, dense.dtype)}"
        )
    if dense.device != x._v.device:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but got mat2 is on "
            f"{dense.device}, different from other tensors on {x._v.device}\n"
            "move one of them: x.to(y.device)"
        )


def times_dense(x, dense):
    """The product of a sparse matrix and a dense one."""
    if dense.dim() != 2:
        raise RuntimeError(f"addmm: 2D tensor expected, got {dense.dim()}D tensor")
    if len(x._size) != 2:
        raise RuntimeError(f"addmm: 2D tensor expected, got {len(x._size)}D tensor")
    _check(x, dense)
    if x._size[1] != dense.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {x._size[1]}, got {dense.shape[0]}"
        )
    rows, columns, values = _entries(x)
    if dense.dtype in _FAST:
        return _C._sparse_product(rows, columns, values, dense, x._size[0])
    if isinstance(x, Coordinates):
        checked(x)
    if values.dtype in (_C.float16, _C.bfloat16):
        found = _C._sparse_product(rows, columns, values.float(), dense.float(), x._size[0])
        return found.to(values.dtype)
    return summed(dense.index_select(0, columns) * values.unsqueeze(1), rows, x._size[0])


def dense_times(dense, x):
    """The product of a dense matrix and a sparse one."""
    if dense.dim() != 2 or len(x._size) != 2:
        raise RuntimeError(f"addmm: 2D tensor expected, got {dense.dim()}D tensor")
    if dense.shape[1] != x._size[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({dense.shape[0]}x{dense.shape[1]} and "
            f"{x._size[0]}x{x._size[1]})"
        )
    return times_dense(RULES["t"](x), dense.t()).t()


def times_sparse(a, b):
    """The product of two sparse matrices, a sparse one."""
    if a._size[1] != b._size[0] or len(a._size) != 2 or len(b._size) != 2:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a._size[0]}x{a._size[1]} and "
            f"{b._size[0]}x{b._size[1]})"
        )
    _check(a, b._v)
    like = a if type(a) is type(b) else None
    to_coo = RULES["to_sparse_coo"]
    a, b = coalesced(to_coo(a)), coalesced(to_coo(b))
    (rows, inner, left), (begins, columns, right) = _entries(checked(a)), _entries(checked(b))
    first = _C.searchsorted(begins.contiguous(), inner.contiguous())
    counts = _C.searchsorted(begins.contiguous(), inner.contiguous(), right=True) - first
    which = _C.repeat_interleave(_C.arange(counts.shape[0], device=counts.device), counts)
    ends = counts.cumsum(0)
    within = _C.arange(which.shape[0], device=counts.device) - (ends - counts)[which]
    other = first[which] + within
    values = left.index_select(0, which) * right.index_select(0, other)
    size = (a._size[0], b._size[1])
    numbers = rows[which] * size[1] + columns[other]
    kept, groups = numbers.unique(return_inverse=True)
    found = coordinates(
        indices_of(kept, size), summed(values, groups, kept.shape[0]), size, True, "MmBackward0"
    )
    return RULES[f"to_{like.layout_name}"](found) if isinstance(like, Compressed) else found


@rule("mm spmm dsmm")
def mm(input, mat2):
    """A product of matrices of which one, or both, are sparse."""
    if is_sparse(input) and is_sparse(mat2):
        return times_sparse(input, mat2)
    return times_dense(input, mat2) if is_sparse(input) else dense_times(input, mat2)


@rule("mv")
def mv(input, vec):
    """A sparse matrix times a vector."""
    if not is_sparse(input) or is_sparse(vec):
        refuse("mv", (input, vec), {})
    if len(input._size) != 2 or vec.dim() != 1:
        raise RuntimeError(
            f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {len(input._size)}"
            f"Tensor Dim: {vec.dim()}"
        )
    if input._size[1] != vec.shape[0]:
        raise RuntimeError(
            f"mv: expected self.size(-1) == vec.size(-1), but got {input._size[1]} and "
            f"{vec.shape[0]}"
        )
    return times_dense(input, vec.unsqueeze(1)).squeeze(1)


@rule("matmul rmatmul")
def matmul(input, other):
    """mm() or mv(), by the dimensions."""
    ranks = input.dim(), other.dim()
    if ranks == (2, 2):
        return mm(input, other)
    if ranks == (2, 1) and is_sparse(input):
        return mv(input, other)
    if ranks == (1, 2) and is_sparse(other) and not is_sparse(input):
        return mv(RULES["t"](other), input)
    if ranks == (3, 3):
        return bmm(input, other)
    if 1 in ranks:
        refuse("dot", (input, other), {})
    raise RuntimeError("expand is unsupported for Sparse tensors")


@rule("rmatmul")
def rmatmul(input, other):
    """other @ input."""
    return matmul(other, input)


@rule("bmm")
def bmm(input, mat2):
    """Products of a batch of sparse matrices and dense ones."""
    if is_sparse(mat2):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    if not isinstance(input, Coordinates) or input._i.shape[0] != 3:
        refuse("bmm", (input, mat2), {})
    (batch, n, m), count = input._size, input._v.shape[0]
    if tuple(mat2.shape[:2]) != (batch, m) or mat2.dim() != 3:
        raise RuntimeError(
            f"bmm_sparse: Argument #2 has shape {list(mat2.shape)}, which does not fit "
            f"{list(input._size)}"
        )
    checked(input)
    which, rows, columns = input._i[0], input._i[1], input._i[2]
    flat = coordinates(
        _C.stack([which * n + rows, which * m + columns]).reshape(2, count), input._v,
        (batch * n, batch * m),
    )  # fmt: skip
    return times_dense(flat, mat2.reshape(batch * m, -1)).reshape(batch, n, -1)


@rule("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2, with mat1 sparse."""
    if is_sparse(input):
        raise RuntimeError(
            "addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse"
        )
    if not is_sparse(mat1) or is_sparse(mat2):
        words = ["Sparse" if is_sparse(x) else "Strided" for x in (mat1, mat2)]
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have "
            f"strided layout, got 'mat1' with layout {words[0]} and 'mat2' with layout {words[1]}"
        )
    product = times_dense(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    given = input.expand(product.shape)
    return (given if beta == 1 else given * beta) + product


@rule("sspaddmm")
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2, the entries of input and those of the product."""
    for name, x, sparse in (("mat1", mat1, True), ("mat2", mat2, False)):
        if is_sparse(x) is not sparse:
            words = "sparse", "Strided"
            raise RuntimeError(
                f"sspaddmm: expected '{name}' to have {words[0] if sparse else 'strided'} layout, "
                f"got '{name}' with layout {words[1] if sparse else 'Sparse'}"
            )
    if not isinstance(input, Coordinates) or not isinstance(mat1, Coordinates):
        refuse("sspaddmm", (input, mat1, mat2), {})
    wanted = (mat1._size[0], mat2.shape[1])
    if mat1._size[1] != mat2.shape[0]:
        raise RuntimeError(
            f"sspaddmm: Argument #3: Expected dim 0 size {mat1._size[1]}, got {mat2.shape[0]}"
        )
    for dim, size in enumerate(wanted):
        if input._size[dim] != size:
            raise RuntimeError(
                f"sspaddmm: Argument #1: Expected dim {dim} size {size}, got {input._size[dim]}"
            )
    _check(mat1, mat2)
    rows, inner, values = _entries(checked(coalesced(mat1)))
    width = wanted[1]
    products = values.unsqueeze(1) * mat2.index_select(0, inner)
    places = _C.stack(
        [rows.repeat_interleave(width), _C.arange(width, device=rows.device).repeat(len(rows))]
    )
    return coordinates(
        _C.cat([input._i, places], 1),
        _C.cat([input._v * beta, products.reshape(-1) * alpha]),
        wanted,
    )


@rule("linear")
def linear(input, weight, bias=None):
    """A dense layer on a sparse input."""
    if is_sparse(weight):
        if is_sparse(input):
            refuse("linear", (input, weight), {})
        found = (
            mm(input, RULES["t"](weight))
            if input.dim() == 2
            else refuse("linear", (input, weight), {})
        )
    else:
        found = mm(input, weight.t())
    return found if bias is None else found + bias


@rule("smm")
def smm(input, mat2):
    """A sparse matrix times a dense one, the result sparse."""
    return mm(input, mat2).to_sparse()


@rule("hsmm")
def hsmm(input, mat2):
    """The older name of hspmm()."""
    return hspmm(input, mat2)


@rule("hspmm")
def hspmm(mat1, mat2):
    """A sparse matrix times a dense one: the rows that are not zero, as a hybrid tensor."""
    rows = _entries(coalesced(mat1))[0].unique()
    found = mm(mat1, mat2).index_select(0, rows)
    return coordinates(rows.unsqueeze(0), found, (mat1._size[0], mat2.shape[1]), True)
