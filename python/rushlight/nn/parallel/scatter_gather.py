"""Splitting arguments over devices and joining results, through tuples, lists and dicts.

Tensors are split as `chunk` splits (10 over 4 devices: 3, 3, 3, 1); 0-d tensors and all other
values go to every device whole.
"""

from rushlight import _C

Tensor = _C.Tensor


def indices(devices) -> list[int]:
    """The indices of GPUs that are given as indices, strings or devices."""
    from rushlight.cuda._device import device_index

    return [device_index(device, optional=False) for device in devices]


def _is_namedtuple(value) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _tensors(value):
    """The tensors in `value` that can be split."""
    if isinstance(value, Tensor):
        if value.dim() > 0:
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _chunks(size: int, devices: int) -> int:
    return -(-size // -(-size // devices)) if size else 1


def count_chunks(inputs, devices: int, dim: int = 0) -> int:
    """How many devices get a part of `inputs`; 1 where there is nothing to split.

    Raises: ValueError, if tensors would be split into different numbers of parts.
    """
    counts = {_chunks(t.size(dim), devices): tuple(t.shape) for t in _tensors(inputs)}
    if len(counts) > 1:
        (first, one), (second, other) = list(counts.items())[:2]
        raise ValueError(
            f"cannot split the inputs over {devices} devices: along dim {dim} a tensor of shape "
            f"{one} makes {first} chunks and one of shape {other} makes {second}\n"
            "give all tensors the same size there, or keep what belongs to every device in the "
            "module, as a buffer"
        )
    return next(iter(counts), 1)


def scatter(inputs, target_gpus, dim=0):
    """Splits the tensors in `inputs` along `dim`, one part for each device that gets one.

    Args:
        inputs: a tensor, or tuples, lists and dicts that hold tensors and other values.
        target_gpus: indices, strings or devices.
        dim: the dimension that is split.

    Shape: a tensor (n, *) gives parts of ceil(n / devices) rows for dim 0, the last of what is
        left.

    Returns: for each device, `inputs` with the parts instead of the tensors. There may be fewer
        parts than devices, as with `chunk`.

    >>> with torch.cuda.virtual(2):
    ...     parts = torch.nn.parallel.scatter({"x": torch.arange(3), "mode": "sum"}, [0, 1])
    >>> parts[0]["x"].shape, parts[1]["x"].shape, parts[1]["mode"]
    (torch.Size([2]), torch.Size([1]), 'sum')
    """
    devices = indices(target_gpus)
    devices = devices[: count_chunks(inputs, len(devices), dim)]

    def split(value):
        if isinstance(value, Tensor):
            if value.dim() == 0:
                return [value.to(_C.device("cuda", i)) for i in devices]
            return list(_C._scatter(value, devices, dim))
        if isinstance(value, (tuple, list)) and value:
            parts = zip(*map(split, value), strict=True)
            if _is_namedtuple(value):
                return [type(value)(*part) for part in parts]
            return [type(value)(part) for part in parts]
        if isinstance(value, dict) and value:
            parts = zip(*map(split, value.values()), strict=True)
            make = type(value) if type(value).__init__ is dict.__init__ else _like(value)
            return [make(zip(value, part, strict=True)) for part in parts]
        return [value] * len(devices)

    return split(inputs)


def _like(value):
    """Makes a dict of a subclass such as OrderedDict or defaultdict."""

    def make(items):
        copy = value.copy()
        copy.update(items)
        return copy

    return make


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """`scatter` for positional and keyword arguments together.

    Args:
        inputs: a tuple of arguments.
        kwargs: a dict of keyword arguments, or None.
        target_gpus: indices, strings or devices.
        dim: the dimension that is split.

    Shape: as of scatter().

    Returns: a tuple of tuples and a tuple of dicts, one of each for each device.

    >>> with torch.cuda.virtual(2):
    ...     args, kwargs = torch.nn.parallel.scatter_kwargs((torch.ones(2),), {"k": 3}, [0, 1])
    >>> len(args), kwargs
    (2, ({'k': 3}, {'k': 3}))
    """
    parts = scatter((tuple(inputs), dict(kwargs or {})), target_gpus, dim)
    return tuple(part[0] for part in parts), tuple(part[1] for part in parts)


def gather(outputs, target_device, dim=0):
    """Joins the results of several devices on one: the inverse of `scatter`.

    Tensors are joined along `dim`, 0-d tensors become a vector. Tuples, lists and dicts that hold
    tensors are joined item by item. Other values are kept if all results agree, else there is a
    list with one for each.

    Args:
        outputs: one result from each device.
        target_device: index, string or device; "cpu" or -1 for the CPU.
        dim: the dimension along which tensors are joined.

    Shape: tensors (n_i, *) give (sum of n_i, *) for dim 0.

    >>> with torch.cuda.virtual(2):
    ...     parts = [torch.ones(2, device="cuda:0"), torch.zeros(1, device="cuda:1")]
    ...     torch.nn.parallel.gather(parts, "cuda:0")
    tensor([1., 1., 0.], device='cuda:0')
    """
    if isinstance(target_device, str):
        target_device = _C.device(target_device)
    if not isinstance(target_device, _C.device):
        cpu = target_device == -1
        target_device = _C.device("cpu") if cpu else _C.device("cuda", target_device)

    def join(values):
        first = values[0]
        if isinstance(first, Tensor):
            if not all(isinstance(value, Tensor) for value in values):
                raise TypeError(_mismatch("a tensor", values))
            on_host = all(value.device.type == "cpu" for value in values)
            return _C._gather(list(values), dim, values[0].device if on_host else target_device)
        if isinstance(first, dict):
            if not all(isinstance(v, dict) and v.keys() == first.keys() for v in values):
                raise ValueError(
                    "All dicts must have the same number of keys\n" + _mismatch("a dict", values)
                )
            joined = {key: join([value[key] for value in values]) for key in first}
            return joined if type(first) is dict else _like(first)(joined)
        if isinstance(first, (tuple, list)) and any(_holds_tensor(v) for v in values):
            if not all(type(v) is type(first) and len(v) == len(first) for v in values):
                raise ValueError(_mismatch(f"a {type(first).__name__} of {len(first)}", values))
            joined = map(join, zip(*values, strict=True))
            return type(first)(*joined) if _is_namedtuple(first) else type(first)(joined)
        return first if all(_equal(value, first) for value in values) else list(values)

    return join(list(outputs))


def _equal(a, b) -> bool:
    try:
        return a is b or (type(a) is type(b) and bool(a == b))
    except Exception:  # an array, or anything else whose == is no single answer
        return False


def _holds_tensor(value) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_tensor, value))
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return isinstance(value, Tensor)


def _mismatch(first: str, values) -> str:
    kinds = ", ".join(type(value).__name__ for value in values)
    return f"the replicas' results cannot be joined: the first is {first}, all are: {kinds}"
