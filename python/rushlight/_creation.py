"""Creation ops that are compositions: empty_permuted and from_file."""

from __future__ import annotations

from rushlight import _C
from rushlight._table import op

__all__ = ["empty_permuted", "from_file"]


@op("torch")
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):  # fmt: skip
    """An uninitialised tensor whose dimensions are in a given order in memory.

    Args:
        size: the shape.
        physical_layout: the dimensions, from the largest stride to the smallest.
        dtype, layout, device, requires_grad, pin_memory: of the result.

    Shape: size.

    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    order = [d % len(size) if -len(size) <= d < len(size) else -1 for d in physical_layout]
    if len(order) != len(size):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(order)}"
        )
    if -1 in order:
        raise RuntimeError(f"Dimension out of range: physical_layout={list(physical_layout)}")
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    made = _C.empty(
        [size[d] for d in order], dtype=dtype, layout=layout, device=device, pin_memory=pin_memory,
        requires_grad=False,
    ).permute([order.index(d) for d in range(len(size))])  # fmt: skip
    return made.requires_grad_(requires_grad)


@op("torch")
def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype=None,
              layout=None, device=None, pin_memory=False, requires_grad=False):  # fmt: skip
    """A tensor whose memory is a file: a page is read where it is looked at. A page that is gone
    because the file was truncated reads as zeros.

    Args:
        filename: its path.
        shared: whether what is written to the tensor goes to the file, which is then made if it is
            not there, and grows if it is shorter.
        size: how many elements, from the file's first.
        dtype: the default dtype if None.
        layout: torch.strided.
        device: the CPU, which is the only one that maps files.
        pin_memory: must be False.
        requires_grad: of the result.

    Shape: (size).

    Raises:
        RuntimeError: if the file is not there or too short.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = torch.from_file(file.name, True, 2, dtype=torch.int16).fill_(7)
    ...     torch.from_file(file.name, size=4, dtype=torch.uint8)
    tensor([7, 0, 7, 0], dtype=torch.uint8)
    """
    from rushlight.storage import UntypedStorage

    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    if device is not None and _C.device(device).type != "cpu":
        raise NotImplementedError(
            f"from_file(): device is {_C.device(device)}, and files are mapped on the CPU\n"
            "copy the tensor with .to(device)"
        )
    empty = _C.empty(0, dtype=dtype, layout=layout, device="cpu", requires_grad=requires_grad)
    count = size or 0
    storage = UntypedStorage.from_file(filename, bool(shared), count * empty.itemsize)
    made = _C._view_storage(storage._bytes, empty.dtype, 0, (count,), (1,))
    return made.requires_grad_() if requires_grad else made
