"""Functions of torch's that libraries call by their private names: a matrix's indices as pairs and
with rows compressed, a shape as a tensor, the gradients of softmax and log_softmax, products of
groups, channel_shuffle by its older name.
"""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor, dtype

from ._table import op


def wide(x: Tensor) -> Tensor:
    """x in the dtype in which numbers of 16 bits are added up."""
    return x.float() if x.itemsize < 4 else x


@op("torch", differentiable=False)
def _shape_as_tensor(input: Tensor) -> Tensor:
    """The sizes of input as a tensor of int64, on the CPU.

    Shape:
        the result: (input.dim(),).

    >>> torch._shape_as_tensor(torch.zeros(2, 3))
    tensor([2, 3])
    """
    return _C.tensor(list(input.shape), dtype=_C.int64)


@op("torch")
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype
) -> Tensor:
    """The gradient of what softmax was given: output * (grad_output - sum(grad_output * output)).

    Args:
        grad_output: the gradient of softmax's result.
        output: softmax's result.
        dim: the dimension of softmax.
        input_dtype: the dtype of what softmax was given, and of the result.

    Shape:
        all alike.

    >>> y = torch.tensor([0.25, 0.75])
    >>> torch._softmax_backward_data(torch.tensor([1.0, 0.0]), y, 0, y.dtype)
    tensor([ 0.1875, -0.1875])
    """
    g, y = wide(grad_output), wide(output)
    return (g * y - y * (g * y).sum(dim, keepdim=True)).to(input_dtype)


@op("torch")
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype
) -> Tensor:
    """The gradient of what log_softmax was given: grad_output - exp(output) * sum(grad_output).

    Args:
        grad_output: the gradient of log_softmax's result.
        output: log_softmax's result.
        dim: the dimension of log_softmax.
        input_dtype: the dtype of what log_softmax was given, and of the result.

    Shape:
        all alike.

    >>> y = torch.tensor([0.25, 0.75]).log()
    >>> torch._log_softmax_backward_data(torch.tensor([1.0, 0.0]), y, 0, y.dtype)
    tensor([ 0.7500, -0.7500])
    """
    g, y = wide(grad_output), wide(output)
    return (g - y.exp() * g.sum(dim, keepdim=True)).to(input_dtype)


@op("torch", differentiable=False)
def _convert_indices_from_coo_to_csr(
    input: Tensor, size: int, *, out_int32: bool = False
) -> Tensor:
    """Where each row begins in the sorted rows of a matrix's elements, and where the last ends.

    Args:
        input: the row of each element, sorted.
        size: the number of rows.
        out_int32: whether the result is int32 rather than int64.

    Shape:
        input: (N,); the result: (size + 1,).

    >>> torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 3)
    tensor([0, 2, 2, 3])
    """
    if input.dim() > 1:
        raise RuntimeError(
            f"Input is supposed to be a vector, but got {input.dim()} dimensional tensor.\n"
            f"input: {tuple(input.shape)}"
        )
    rows = _C.arange(size + 1, dtype=input.dtype, device=input.device)
    return _C.searchsorted(input.reshape(-1), rows, out_int32=out_int32)


@op("torch", differentiable=False, waits=True)
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each element of a matrix.

    Args:
        crow_indices: where each row begins in col_indices, and where the last ends.
        col_indices: the column of each element.
        out_int32: whether the result is int32 rather than int64.
        transpose: whether the columns come first.

    Shape:
        crow_indices: (rows + 1,); col_indices: (N,); the result: (2, N).

    >>> rows = torch.tensor([0, 2, 2, 3])
    >>> torch._convert_indices_from_csr_to_coo(rows, torch.tensor([0, 1, 1]))
    tensor([[0, 0, 2],
            [0, 1, 1]])
    """
    if crow_indices.dim() != 1 or col_indices.dim() != 1:
        raise NotImplementedError(
            "_convert_indices_from_csr_to_coo(): batches of matrices are not in rushlight: call "
            f"it for each\ncrow_indices: {tuple(crow_indices.shape)}; "
            f"col_indices: {tuple(col_indices.shape)}"
        )
    dtype = _C.int32 if out_int32 else _C.int64
    counts = crow_indices.diff()
    rows = _C.arange(counts.numel(), dtype=dtype, device=counts.device)
    pair = [rows.repeat_interleave(counts), col_indices.to(dtype)]
    return _C.stack(pair[::-1] if transpose else pair)


@op("torch")
def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
) -> Tensor:
    """One product for each group: nn.functional.grouped_mm() by its older name.

    Args:
        self: the first factor.
        mat2: the second factor.
        offs: where the groups end, in int32.
        bias: None.
        out_dtype: the dtype of self.

    Shape:
        as of nn.functional.grouped_mm.

    >>> torch._grouped_mm(torch.ones(2, 1, 4), torch.ones(2, 4, 4)).shape
    torch.Size([2, 1, 4])
    """
    return _C._nn.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


@op("torch", out=True, exact=True, differentiable=False)
def _int_mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices of integers of 8 bits, in int32.

    Args:
        mat2: the second factor, of int8.

    Shape:
        input: (N, K) of int8 or uint8; mat2: (K, M); the result: (N, M).

    >>> torch._int_mm(torch.full((1, 2), 100, dtype=torch.int8), torch.ones(2, 1, dtype=torch.int8))
    tensor([[200]], dtype=torch.int32)
    """
    if input.dtype not in (_C.int8, _C.uint8):
        raise RuntimeError(
            f"int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got {input.dtype}"
        )
    if mat2.dtype is not _C.int8:
        raise RuntimeError(
            f"int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got {mat2.dtype}"
        )
    if input.dim() != 2 or mat2.dim() != 2:
        name, found = ("self", input) if input.dim() != 2 else ("mat2", mat2)
        raise RuntimeError(
            f"int_mm_out_cpu: Expected {name} to be of dimension 2 but got {found.dim()}"
        )
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            "int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got "
            f"{input.shape[1]} and {mat2.shape[0]}"
        )
    return _C.mm(input.int(), mat2.int())


@op("torch", "nn.functional")
def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """channel_shuffle() by another name.

    Args:
        groups: how many groups the channels are in.

    Shape:
        that of input.

    >>> torch.native_channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    return _C.channel_shuffle(input, groups)
