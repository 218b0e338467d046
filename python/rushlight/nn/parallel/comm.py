"""torch.cuda.comm: broadcast, scatter, gather and sums over several GPUs, without gradients.

On real GPUs sums and copies of equal, dense, floating tensors go through NCCL where it is found.
"""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn.parallel.scatter_gather import indices

__all__ = [
    "broadcast",
    "broadcast_coalesced",
    "gather",
    "reduce_add",
    "reduce_add_coalesced",
    "scatter",
]

_BUFFER = 10485760  # torch's buffer_size, which changes nothing here


def _gpus(devices):
    return [_C.device("cuda", index) for index in indices(devices)]


def _destination(device):
    """A device from an index, a string, or None for the current GPU; -1 is the CPU."""
    from rushlight.cuda import current_device

    if device == -1 or str(device) == "cpu":
        return _C.device("cpu")
    return _gpus([current_device() if device is None else device])[0]


def _exactly_one(devices, out):
    if (devices is None) == (out is None):
        raise RuntimeError(
            "Exactly one of 'devices' and 'out' must be specified, but got "
            f"devices={devices} and out={out}"
        )


@no_grad()
def broadcast(tensor, devices=None, *, out=None):
    """Copies of a tensor on several GPUs.

    Args:
        tensor: what to copy, on the CPU or a GPU.
        devices: indices, strings or devices, the tensor's own first.
        out: instead of devices, tensors to write the copies into.

    Shape: copies have the shape of tensor.

    Returns: a tuple with one tensor for each device.

    >>> with torch.cuda.virtual(2):
    ...     [t.device.index for t in torch.cuda.comm.broadcast(torch.ones(2), [0, 1])]
    [0, 1]
    """
    _exactly_one(devices, out)
    if out is None:
        return tuple(_C._copy_together([tensor], _gpus(devices)))
    return tuple(target.copy_(tensor) for target in out)


@no_grad()
def broadcast_coalesced(tensors, devices, buffer_size=_BUFFER):
    """Copies of several tensors on several GPUs: for each device, a list of them in order.

    Args:
        tensors: on the CPU, or all on the first of the devices.
        devices: indices, strings or devices.
        buffer_size: a hint, which changes nothing.

    Shape: copies have the shapes of tensors.

    >>> with torch.cuda.virtual(2):
    ...     parts = torch.cuda.comm.broadcast_coalesced([torch.ones(2), torch.ones(3)], [0, 1])
    >>> len(parts), parts[1][0].device.index
    (2, 1)
    """
    tensors, gpus = list(tensors), _gpus(devices)
    copies = _C._copy_together(tensors, gpus)
    return [list(copies[i * len(tensors) :][: len(tensors)]) for i in range(len(gpus))]


def _sums(inputs, home):
    """The sums over i of inputs[i][j], for each j."""
    lists = [list(tensors) for tensors in inputs]
    for i, tensors in enumerate(lists):
        if len(tensors) != len(lists[0]):
            raise ValueError(f"input {i} has {len(tensors)} tensors, and input 0 {len(lists[0])}")
        for tensor, first in zip(tensors, lists[0], strict=True):
            if tensor.device.type == "cpu":
                raise AssertionError(
                    f"reduce_add expects all inputs to be on GPUs, but input {i} is on CPU"
                )
            if tensor.shape != first.shape:
                raise ValueError(
                    f"input {i} has invalid size: got {tuple(tensor.shape)}, but expected "
                    f"{tuple(first.shape)}"
                )
    return _C._sum_parts([t for tensors in lists for t in tensors], len(lists[0]), home)


@no_grad()
def reduce_add(inputs, destination=None):
    """The sum of tensors of one shape on several GPUs.

    Args:
        inputs: the tensors.
        destination: where the sum goes; the current GPU if None.

    Shape: inputs of one shape, which is that of the sum.

    Raises:
        AssertionError: if one is on the CPU.
        ValueError: if the shapes differ.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.comm.reduce_add([torch.ones(2, device=i) for i in range(2)])
    tensor([2., 2.], device='cuda:0')
    """
    inputs = list(inputs)
    if not inputs:
        raise IndexError("list index out of range: reduce_add() of no tensors")
    return _sums([[tensor] for tensor in inputs], _destination(destination))[0]


@no_grad()
def reduce_add_coalesced(inputs, destination=None, buffer_size=_BUFFER):
    """For each j the sum over i of inputs[i][j], as a tuple.

    Args:
        inputs: a list of tensors for each GPU.
        destination: where the sums go; the current GPU if None.
        buffer_size: a hint, which changes nothing.

    Shape: inputs[i][j] of one shape for all i, which is that of sum j.

    >>> with torch.cuda.virtual(2):
    ...     parts = [[torch.ones(2, device=i), torch.ones(1, device=i)] for i in range(2)]
    ...     torch.cuda.comm.reduce_add_coalesced(parts)[1].item()
    2.0
    """
    inputs = list(inputs)
    return tuple(_sums(inputs, _destination(destination))) if inputs else ()


@no_grad()
def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """The parts of a tensor along `dim`, one on each GPU.

    Args:
        tensor: what is split, on the CPU or a GPU.
        devices: indices, strings or devices.
        chunk_sizes: length of each part; as `chunk` splits if None.
        dim: the dimension that is split.
        streams: for each device the stream of the copy, or None.
        out: instead of devices and sizes, tensors to write the parts into.

    Shape: parts have the shape of tensor but in dim.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.comm.scatter(torch.arange(3), [0, 1], [1, 2])[1]
    tensor([1, 2], device='cuda:1')
    """
    from rushlight.cuda import stream

    _exactly_one(devices, out)
    if out is not None:
        parts = tensor.split([target.size(dim) for target in out], dim)
        return tuple(target.copy_(part) for target, part in zip(out, parts, strict=True))
    gpus = _gpus(devices)
    if chunk_sizes is None:
        parts = tensor.chunk(len(gpus), dim)
    elif len(chunk_sizes) != len(gpus):
        raise RuntimeError(
            f"Expected devices and chunk_sizes to be of same length, but got {len(gpus)} devices "
            f"and {len(chunk_sizes)} chunk_sizes"
        )
    else:
        parts = tensor.split(list(chunk_sizes), dim)
    copies = []
    for i, (part, gpu) in enumerate(zip(parts, gpus, strict=False)):
        with stream(streams[i] if streams else None):
            copies.append(part.to(gpu))
    return tuple(copies)


@no_grad()
def gather(tensors, dim=0, destination=None, *, out=None):
    """Concatenates tensors of several GPUs.

    Args:
        tensors: one from each GPU.
        dim: the dimension along which they are joined.
        destination: where the result goes, -1 or "cpu" for the CPU; the current GPU if None.
        out: instead of destination, a tensor to write the result into.

    Shape: tensors of one shape but for dim, whose sizes add up.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.comm.gather([torch.ones(1, device=i) for i in range(2)], destination=-1)
    tensor([1., 1.])
    """
    tensors = list(tensors)
    if out is not None:
        if destination is not None:
            raise RuntimeError(
                f"'destination' must not be specified when 'out' is specified, but got "
                f"destination={destination}"
            )
        return out.copy_(_C.cat([tensor.to(out.device) for tensor in tensors], dim))
    home = _destination(destination)
    return _C.cat([tensor.to(home) for tensor in tensors], dim)
