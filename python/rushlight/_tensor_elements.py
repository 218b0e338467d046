"""Tensor methods that write or find single elements, some by a Python function."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Number, op


def _rewritten(name, self, values):
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    if self.device.type != "cpu":
        raise TypeError(f"{name} is only implemented on CPU tensors")
    found = values()
    others = [type(value).__name__ for value in found if not hasattr(value, "__float__")]
    if others:
        raise TypeError(f"must be real number, not {others[0]}")
    return self.copy_(_C.tensor(found, dtype=self.dtype).reshape(self.shape))


@op("Tensor")
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False):
    """Fills the diagonal: the elements whose indices are equal.

    Args:
        fill_value: the value.
        wrap: of a tall matrix: begin again, a row below the last one filled.

    Shape: two dimensions or more, of equal sizes if there are more than two.

    >>> torch.zeros(2, 3).fill_diagonal_(5)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(
            f"all dimensions of input must be of equal length\nself: {list(self.shape)}"
        )
    if self.dim() > 2:
        self.as_strided(self.shape[:1], (sum(self.stride()),)).fill_(fill_value)
        return self
    height, width = self.shape
    blocks = height // (width + 1) if wrap else 0
    first = blocks * (width + 1)
    if blocks:
        whole = self[:first].unflatten(0, (blocks, width + 1))
        whole.diagonal(dim1=1, dim2=2).fill_(fill_value)
    self[first:].diagonal().fill_(fill_value)
    return self


@op("Tensor")
def apply_(self: Tensor, callable):
    """Replaces each element x by callable(x), in Python: slow.

    Args:
        callable: a function of a Python scalar.

    Shape: that of self.

    >>> torch.tensor([1.0, 2.0]).apply_(lambda v: v * v)
    tensor([1., 4.])
    """
    return _rewritten("apply_", self, lambda: [callable(v) for v in self.flatten().tolist()])


@op("Tensor")
def map_(self: Tensor, other, callable):
    """Replaces each element x by callable(x, y), y of another tensor, in Python: slow.

    Args:
        other: the other tensor, broadcast to self.
        callable: a function of two Python scalars.

    Shape: other broadcasts to self.

    >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda a, b: a * b)
    tensor([3., 8.])
    """
    return _mapped("map_", self, callable, {"'other'": other})


@op("Tensor")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable):
    """Replaces each element by callable(element, x's, y's), in Python: slow.

    Args:
        x, y: two other tensors, broadcast to self.
        callable: a function of three Python scalars.

    Shape: x and y broadcast to self.

    >>> x = torch.tensor([1.0, 2.0])
    >>> x.map2_(x, torch.ones(2), lambda a, b, c: a * b + c)
    tensor([2., 5.])
    """
    return _mapped("map2_", self, callable, {"argument 'x'": x, "argument 'y'": y})


def _mapped(name, self, callable, others):
    for argument, other in others.items():
        if not isinstance(other, _C.Tensor) or other.type() != self.type():
            kind = other.type() if isinstance(other, _C.Tensor) else type(other).__name__
            raise TypeError(f"{name}: expected {self.type()} for {argument} (got {kind})")
        if other.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
                f"instead.\n{argument} does"
            )
    columns = [other.expand(self.shape) for other in others.values()]

    def values():
        rows = zip(*(t.flatten().tolist() for t in (self, *columns)), strict=True)
        return [callable(*row) for row in rows]

    return _rewritten(name, self, values)


@op("torch", "Tensor", out=True)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The indices of the first `size` nonzero elements, in rows.

    Args:
        size: the number of rows.
        fill_value: of the rows after the last nonzero element.

    Shape: input of d dimensions gives (size, d).

    >>> torch.nonzero_static(torch.tensor([1, 0, 2]), size=3).flatten()
    tensor([ 0,  2, -1])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if input.is_meta:  # the one form of nonzero() whose shape needs no values
        return _C.empty((size, input.dim()), dtype=_C.int64, device=input.device)
    found = input.nonzero()[:size]
    shape = size - found.shape[0], input.dim()
    rest = _C.full(shape, fill_value, dtype=_C.int64, device=input.device)
    return _C.cat([found, rest])
