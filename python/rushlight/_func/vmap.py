"""vmap: a function of one element as a function of a batch."""

import functools

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._func import rules  # noqa: F401
from rushlight._func.dispatch import Dispatch
from rushlight._func.trees import is_tensor, leaves, mapped


def _spread(dims, tree, name):
    """One dimension for each leaf of the tree, from an int, None or a tree that leads to it."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(tree))
    if isinstance(tree, dict):
        parts = [(dims[key], tree[key]) for key in tree] if isinstance(dims, dict) else None
    else:
        fits = isinstance(tree, tuple | list) and isinstance(dims, tuple | list)
        parts = list(zip(dims, tree, strict=True)) if fits and len(dims) == len(tree) else None
    if parts is None:
        raise ValueError(
            f"vmap({name}, in_dims={dims}, ...)(<inputs>): in_dims is not compatible with the "
            "structure of inputs. in_dims must give an int or None for each tensor"
        )
    return [d for part, branch in parts for d in _spread(part, branch, name)]


def _batch_size(values, dims, name, in_dims):
    said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if in_dims is None:
        raise ValueError(
            f"{said}expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not values:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    sizes = []
    for value, dim in zip(values, dims, strict=True):
        if dim is None:
            continue
        if not is_tensor(value):
            raise ValueError(
                f"{said}Got in_dim={dim} for an input but the input "
                f"is of type {type(value)}. We cannot vmap over non-Tensor arguments, please use "
                "None as the respective in_dim"
            )
        if not -value.dim() <= dim < value.dim():
            raise ValueError(
                f"{said}Got in_dim={dim} for some input, but that "
                f"input is a Tensor of dimensionality {value.dim()} so expected in_dim to satisfy "
                f"-{value.dim()} <= in_dim < {value.dim()}."
            )
        sizes.append(value.shape[dim])
    if not sizes:
        raise ValueError(f"{said}at least one input must be mapped over: all of in_dims is None")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function that computes func for all elements of a batch at once.

    func is called once, with tensors that have the shape of one element; each operation computes
    with the whole batch, or, where it cannot, with one element after another and a warning.

    Args:
        func: takes and gives tensors, also within tuples, lists and dicts.
        in_dims: the batch's dimension in each argument, None for one that all share, as keyword
            arguments are.
        out_dims: the batch's dimension in each result.
        randomness: "error" refuses functions that draw random numbers; with "different" each
            element has its own, with "same" all have the same.
        chunk_size: how many elements are computed at once; None for all.

    Shape: func sees each argument without the dimension of in_dims; its results get a dimension of
        the batch's size at out_dims.

    Raises:
        ValueError: if in_dims does not fit the arguments, or their batches differ in size.
        RuntimeError: if func draws random numbers and randomness is "error", reads a value with
            .item() or `if`, or writes an element's values to a tensor that all share.

    >>> dot = torch.vmap(torch.dot)
    >>> dot(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        if isinstance(in_dims, tuple | list) and len(in_dims) != len(args):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with "
                f"the structure of inputs. in_dims has {len(in_dims)} entries for {len(args)}"
            )
        dims = _spread(in_dims, args, name)
        values = leaves(args)
        size = _batch_size(values, dims, name, in_dims)
        values = [x if d is None else x.movedim(d, 0) for x, d in zip(values, dims, strict=True)]
        step = chunk_size or max(size, 1)
        parts = [
            _of_part(func, args, kwargs, values, dims, i, min(step, size - i), randomness)
            for i in range(0, max(size, 1), step)
        ]
        return _results(parts, out_dims, name)

    return wrapper


def _of_part(func, args, kwargs, values, dims, first, count, randomness):
    """(the level, what func returned) for `count` elements of the batch."""
    level = Dispatch(count, randomness)
    whole = all(d is None or x.shape[0] == count for x, d in zip(values, dims, strict=True))
    chosen = iter([
        x if d is None else level.batched(x if whole else x.narrow(0, first, count))
        for x, d in zip(values, dims, strict=True)
    ])  # fmt: skip
    args = mapped(lambda _: next(chosen), args)
    with level:
        return level, func(*args, **kwargs)


def _results(parts, out_dims, name):
    """What func returned, with the batch in front of it or where out_dims says."""
    dims = _dims_of(parts[0][1], out_dims, name)
    for _, result in parts:
        for leaf, dim in zip(leaves(result), dims, strict=False):
            if dim is not None and not is_tensor(leaf):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. "
                    "Did you mean to set out_dims= to None for output?"
                )
    left = iter(dims)

    def together(*rows):
        dim = next(left)
        if dim is None:
            if any(level.holds(x) for (level, _), x in zip(parts, rows, strict=True)):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is "
                    "None"
                )
            return rows[0]
        batches = [level.spread(x) for (level, _), x in zip(parts, rows, strict=True)]
        whole = batches[0] if len(batches) == 1 else _C.cat(batches)
        return whole.movedim(0, wrapped(dim, whole.dim()))

    return mapped(together, *[result for _, result in parts])


def _dims_of(result, out_dims, name):
    """That of each leaf."""
    try:
        return _spread(out_dims, result, name)
    except ValueError:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            "the structure of `outputs`. out_dims must give an int or None for each tensor"
        ) from None


def check_randomness(randomness):
    """Raises a RuntimeError unless it is one of the three words."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def stack_module_state(models):
    """The parameters and the buffers of several modules, each stacked under its name.

    Args:
        models: modules of one class and one mode.

    Shape: each (*) of the n models becomes (n, *).

    >>> layers = [torch.nn.Linear(2, 1) for _ in range(3)]
    >>> torch.func.stack_module_state(layers)[0]["weight"].shape
    torch.Size([3, 1, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(each):
        named = [dict(state) for state in each]
        made = {}
        for key, first in named[0].items():
            rows = _C.stack([state[key].detach() for state in named])
            made[key] = rows.requires_grad_(first.requires_grad)
        return made

    return (
        stacked([model.named_parameters() for model in models]),
        stacked([model.named_buffers() for model in models]),
    )
