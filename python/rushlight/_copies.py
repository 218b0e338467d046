"""Functions of the top level that are a method and a copy, or a method in place."""

from rushlight import _C
from rushlight._results import check_tensors, deliver

__all__ = [
    "adjoint",
    "alias_copy",
    "empty_permuted",
    "is_same_size",
    "is_signed",
    "narrow_copy",
    "nonzero_static",
]


def is_signed(input):
    """Whether the dtype has negative numbers.

    >>> torch.is_signed(torch.ones(1)), torch.is_signed(torch.ones(1, dtype=torch.uint8))
    (True, False)
    """
    return input.is_signed()


def is_same_size(input, other):
    """Whether two tensors are of one shape.

    >>> torch.is_same_size(torch.ones(2), torch.ones(2, 1))
    False
    """
    return input.shape == other.shape


def adjoint(input):
    """The matrices transposed: a view.

    >>> torch.adjoint(torch.ones(4, 2, 3)).shape
    torch.Size([4, 3, 2])
    """
    if input.dim() == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return input if input.dim() == 0 else input.mT


def alias_copy(input, *, out=None):
    """A copy.

    >>> torch.alias_copy(torch.arange(2))
    tensor([0, 1])
    """
    check_tensors("alias_copy", input=input)
    return deliver("alias_copy", input.clone(), out)


def narrow_copy(input, dim, start, length, *, out=None):
    """A copy of narrow().

    >>> torch.narrow_copy(torch.arange(4), 0, 1, 2)
    tensor([1, 2])
    """
    check_tensors("narrow_copy", input=input)
    if dim >= max(input.dim(), 1):  # IndexError elsewhere
        raise RuntimeError(
            f"narrow_copy(): Expected dim to be below the {input.dim()} dimensions of input, got "
            f"{dim}"
        )
    return deliver("narrow_copy", input.narrow(dim, start, length).clone(), out)


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):  # fmt: skip
    """An unset tensor whose dimensions lie in memory in another order.

    Args:
        size: the shape.
        physical_layout: the dimensions, from the one of the largest steps on.

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
        [size[d] for d in order], dtype=dtype, device=device, pin_memory=pin_memory,
        requires_grad=False,
    ).permute([order.index(d) for d in range(len(size))])  # fmt: skip
    return made.requires_grad_(requires_grad)


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` positions of what is not 0; rows of `fill_value` where there are fewer.

    >>> torch.nonzero_static(torch.tensor([1, 0, 2]), size=3).flatten()
    tensor([ 0,  2, -1])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = input.nonzero()[:size]
    made = _C.full((size, input.dim()), fill_value, dtype=_C.int64, device=input.device)
    made[: found.shape[0]] = found
    return deliver("nonzero_static", made, out)


def _copy_of(name, example):
    """`name`_copy(), which gives copies where the method gives views."""

    def copy(input, *args, out=None, **kwargs):
        check_tensors(name + "_copy", input=input)
        made = getattr(input, name)(*args, **kwargs)
        dense = {"memory_format": _C.contiguous_format}
        if isinstance(made, (list, tuple)):
            return deliver(name + "_copy", tuple(m.clone(**dense) for m in made), out)
        return deliver(name + "_copy", made.clone(**dense), out)

    copy.__name__ = copy.__qualname__ = name + "_copy"
    look = (
        "[0].is_contiguous()"
        if name in ("split", "split_with_sizes", "unbind")
        else ".is_contiguous()"
    )
    copy.__doc__ = (
        f"A copy of what Tensor.{name}() gives as a view.\n\n"
        f">>> torch.{name}_copy({example}){look}\nTrue"
    )
    return copy


def _in_place(name, example):
    """The method `name`, as a function."""

    def function(input, *args, **kwargs):
        check_tensors(name, input=input)
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    first, _, rest = example.partition("; ")
    function.__doc__ = (
        f"Tensor.{name}() as a function: writes to `input`.\n\n"
        f">>> x = {first}\n>>> torch.{name}(x{', ' + rest if rest else ''}) is x\nTrue"
    )
    return function


_COPIES = {
    "as_strided": "torch.ones(4), (2, 2), (1, 2)", "detach": "torch.ones(2)",
    "diagonal": "torch.eye(3)", "expand": "torch.ones(1), (3,)",
    "permute": "torch.ones(2, 3), (1, 0)", "select": "torch.eye(3), 1, 0",
    "split": "torch.ones(4), 2",
    "split_with_sizes": "torch.ones(4), (1, 3)", "squeeze": "torch.ones(1, 3)",
    "t": "torch.ones(2, 3)",
    "transpose": "torch.ones(2, 3), 0, 1", "unbind": "torch.eye(2), 1",
    "unfold": "torch.ones(4), 0, 2, 1", "unsqueeze": "torch.ones(2), 0",
    "view": "torch.ones(4), (2, 2)",
}  # fmt: skip
_IN_PLACE = {
    "addmv_": "torch.ones(2); torch.eye(2), torch.ones(2)",
    "as_strided_": "torch.ones(4); (2,), (2,)",
    "clamp_max_": "torch.ones(2); 0", "clamp_min_": "torch.ones(2); 2",
    "clip_": "torch.ones(2); 0, 1", "gcd_": "torch.tensor([4]); torch.tensor([6])",
    "index_put_": "torch.ones(2); (torch.tensor([0]),), torch.zeros(1)",
    "lcm_": "torch.tensor([4]); torch.tensor([6])", "ldexp_": "torch.ones(2); torch.tensor([1])",
    "xlogy_": "torch.ones(2); 2",
    **dict.fromkeys(
        ("arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "detach_", "fix_",
         "i0_", "negative_", "sinc_"),
        "torch.ones(2)",
    ),
}  # fmt: skip
for _name, _example in _COPIES.items():
    globals()[_name + "_copy"] = _copy_of(_name, _example)
    __all__.append(_name + "_copy")
for _name, _example in _IN_PLACE.items():
    globals()[_name] = _in_place(_name, _example)
    __all__.append(_name)
