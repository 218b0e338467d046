"""vmap: a function of one element as a function of a batch, by calling it for each."""

import functools

from rushlight import _C
from rushlight._func.trees import is_tensor, leaves, mapped
from rushlight.random import _gpu_generators


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
    """The function that calls func for each element of a batch and stacks the results.

    Args:
        func: takes and gives tensors, also within tuples, lists and dicts.
        in_dims: the batch's dimension in each argument, None for one that all share.
        out_dims: the batch's dimension in each result.
        randomness: "error" refuses functions that draw random numbers from a default generator;
            with "different" each call draws its own, with "same" all draw the first one's.
        chunk_size: changes nothing, as the calls come one after another.

    Raises:
        ValueError: if in_dims does not fit the arguments, or their batches differ in size.
        RuntimeError: if func draws random numbers and randomness is "error".

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
        dims = _spread(in_dims, args, name) + [0] * len(leaves(kwargs))
        values = leaves((args, kwargs))
        size = _batch_size(values, dims, name, in_dims)
        slices = [
            value if dim is None else value.unbind(dim)
            for value, dim in zip(values, dims, strict=True)
        ]
        if not size:
            raise ValueError(
                f"vmap({name})(<inputs>): the batch is empty, so that no call can tell what the "
                "results are like"
            )
        results = []
        draws = Draws(randomness)
        for i in range(size):
            chosen = iter([
                part if dim is None else part[i] for part, dim in zip(slices, dims, strict=True)
            ])  # fmt: skip
            one_args, one_kwargs = mapped(lambda _, row=chosen: next(row), (args, kwargs))
            with draws:
                results.append(func(*one_args, **one_kwargs))
        return _stacked(results, out_dims, name)

    return wrapper


def check_randomness(randomness):
    """Raises a RuntimeError unless it is one of the three words."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


class Draws:
    """Around each call: what `randomness` says of the default generators."""

    def __init__(self, randomness):
        self.randomness = randomness
        self.before = [] if randomness == "different" else _states()

    def __enter__(self):
        if self.randomness == "same":
            for generator, state in self.before:
                generator.set_state(state)

    def __exit__(self, kind, error, trace):
        if self.randomness != "error" or kind is not None:
            return
        before = {id(generator): state for generator, state in self.before}
        for generator, state in _states():
            known = before.get(id(generator))
            if known is not None and not known.equal(state):
                raise RuntimeError(
                    "vmap: called random operation while in randomness error mode. Please use the "
                    "'same' or 'different' randomness flags on vmap or perform the randomness "
                    "operation out of vmap"
                )


def _states():
    generators = [_C.default_generator, *_gpu_generators(None)]
    return [(generator, generator.get_state()) for generator in generators]


def _stacked(results, out_dims, name):
    for leaf in leaves(results[0]):
        if not is_tensor(leaf):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)} as a "
                "return."
            )
    dims = iter(_spread(out_dims, results[0], name))

    def stack(*rows):
        dim = next(dims)
        return rows[0] if dim is None else _C.stack(rows, dim)

    return mapped(stack, *results)


def stack_module_state(models):
    """The parameters and the buffers of several modules, each stacked under its name.

    Args:
        models: modules of one class and one mode.

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
