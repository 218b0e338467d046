"""NCCL by name. Its sums and copies are used by DataParallel and torch.cuda.comm."""

__all__ = [
    "all_gather",
    "all_reduce",
    "broadcast",
    "is_available",
    "reduce",
    "reduce_scatter",
    "version",
]

SUM = 0


def version() -> "tuple[int, int, int]":
    """The version of NCCL. Virtual GPUs name the one that they imitate.

    Raises:
        RuntimeError: on real GPUs without NCCL; it names the file, where it was looked for, and
            the command that installs it.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.nccl.version()
    (2, 27, 3)
    """
    from .. import _cuda_libraries
    from ._device import init

    init()
    number = _cuda_libraries.required("NCCL", "torch.cuda.nccl.version()") or 22703
    return number // 10000, number // 100 % 100, number % 100


def is_available(tensors) -> bool:
    """Whether the tensors can be summed together: dense, on GPUs, no two on one."""
    devices = [tensor.device for tensor in tensors]
    return len(set(devices)) == len(devices) and all(
        tensor.is_cuda and tensor.is_contiguous() for tensor in tensors
    )


def _check(tensors, op=SUM, **absent):
    for name, value in absent.items():
        if value is not None:
            raise NotImplementedError(
                f"torch.cuda.nccl with {name}= is not in rushlight: the calls use the current "
                "streams and a communicator of their own"
            )
    if op != SUM:
        raise RuntimeError(f"only sums are here: op must be {SUM}, not {op}")
    if not tensors or not is_available(tensors):
        raise RuntimeError(
            "Some tensors are not on GPUs, not contiguous, or on one GPU together: "
            + ", ".join(str(tensor.device) for tensor in tensors)
        )


def broadcast(inputs, root=0, streams=None, comms=None) -> None:
    """Writes inputs[root] into all of them."""
    from ..nn.parallel import comm

    _check(inputs, streams=streams, comms=comms)
    comm.broadcast(inputs[root], out=[t for i, t in enumerate(inputs) if i != root])


def reduce(inputs, output=None, root=0, op=SUM, streams=None, comms=None, *, outputs=None) -> None:
    """Writes the sum of all into `output`, or into inputs[root]."""
    from ..nn.parallel import comm

    _check(inputs, op, streams=streams, comms=comms)
    if outputs is not None:
        output = outputs[root]
    elif isinstance(output, (list, tuple)):
        output = output[root]
    target = inputs[root] if output is None else output
    target.copy_(comm.reduce_add(inputs, target.device))


def all_reduce(inputs, outputs=None, op=SUM, streams=None, comms=None) -> None:
    """Writes the sum of all into each of `outputs` (or of `inputs`)."""
    from ..nn.parallel import comm

    _check(inputs, op, streams=streams, comms=comms)
    comm.broadcast(
        comm.reduce_add(inputs, inputs[0].device), out=inputs if outputs is None else outputs
    )


def all_gather(inputs, outputs, streams=None, comms=None) -> None:
    """Writes all inputs, one after the other, into each of `outputs`."""
    from ..nn.parallel import comm

    _check(inputs, streams=streams, comms=comms)
    flat = [tensor.reshape(-1) for tensor in inputs]
    for target in outputs:
        joined = comm.gather(flat, destination=target.device)
        target.copy_(joined.reshape(target.shape))


def reduce_scatter(inputs, outputs, op=SUM, streams=None, comms=None) -> None:
    """Writes the parts of the sum of all into `outputs`, one part into each."""
    from ..nn.parallel import comm

    _check(inputs, op, streams=streams, comms=comms)
    total = comm.reduce_add(inputs, inputs[0].device).reshape(-1)
    for target, part in zip(outputs, total.chunk(len(outputs)), strict=True):
        target.copy_(part.reshape(target.shape))
