"""Scatter, Gather, Broadcast and ReduceAddCoalesced as autograd Functions, under the names by which
programs with a DataParallel of their own import them."""

from itertools import chain

from rushlight import _C
from rushlight.autograd.function import Function
from rushlight.cuda._device import _get_device_index
from rushlight.nn.parallel import comm

_streams: dict = {}  # index of a GPU -> its stream for copies


def _get_stream(device):
    """The stream for copies from the CPU to a GPU; None for the CPU."""
    from rushlight.cuda import Stream, is_available

    if device.type == "cpu" or not is_available():
        return None
    if device.index not in _streams:
        _streams[device.index] = Stream(device)
    return _streams[device.index]


def _on_gpus(name, tensors):
    if any(tensor.device.type == "cpu" for tensor in tensors):
        raise AssertionError(f"{name} function not implemented for CPU tensors")


class Broadcast(Function):
    """Copies of the inputs on each GPU, all of the first one first."""

    @staticmethod
    def forward(ctx, target_gpus, *inputs):
        _on_gpus("Broadcast", inputs)
        if not inputs:
            return ()
        ctx.home, ctx.count = inputs[0].get_device(), len(inputs)
        gpus = [_get_device_index(gpu, True) for gpu in target_gpus]
        outputs = comm.broadcast_coalesced(inputs, gpus)
        fixed = [i for i, needed in enumerate(ctx.needs_input_grad[1:]) if not needed]
        ctx.mark_non_differentiable(*(copies[i] for copies in outputs for i in fixed))
        return tuple(chain.from_iterable(outputs))

    @staticmethod
    def backward(ctx, *grad_outputs):
        return (None, *ReduceAddCoalesced.apply(ctx.home, ctx.count, *grad_outputs))


class ReduceAddCoalesced(Function):
    """The sums over all GPUs of `num_inputs` tensors from each."""

    @staticmethod
    def forward(ctx, destination, num_inputs, *grads):
        starts = range(0, len(grads), num_inputs)
        ctx.target_gpus = [grads[i].get_device() for i in starts]
        lists = [grads[i : i + num_inputs] for i in starts]
        return tuple(comm.reduce_add_coalesced(lists, destination))

    @staticmethod
    def backward(ctx, *grad_outputs):
        return (None, None, *Broadcast.apply(ctx.target_gpus, *grad_outputs))


class Gather(Function):
    """Tensors of several GPUs joined along `dim` on one device."""

    @staticmethod
    def forward(ctx, target_device, dim, *inputs):
        _on_gpus("Gather", inputs)
        if target_device != "cpu":
            target_device = _get_device_index(target_device, True)
        ctx.scalars = dim == 0 and all(tensor.dim() == 0 for tensor in inputs)
        if ctx.scalars:
            inputs = tuple(tensor.view(1) for tensor in inputs)
        ctx.gpus, ctx.dim = [tensor.get_device() for tensor in inputs], dim
        ctx.sizes = [tensor.size(dim) for tensor in inputs]
        return comm.gather(inputs, dim, target_device)

    @staticmethod
    def backward(ctx, grad_output):
        parts = Scatter.apply(ctx.gpus, ctx.sizes, ctx.dim, grad_output)
        return (None, None, *(part[0] if ctx.scalars else part for part in parts))


class Scatter(Function):
    """The parts of a tensor along `dim`, one on each GPU."""

    @staticmethod
    def forward(ctx, target_gpus, chunk_sizes, dim, input):
        gpus = [_get_device_index(gpu, True) for gpu in target_gpus]
        ctx.dim = dim
        ctx.home = "cpu" if input.device.type == "cpu" else input.get_device()
        if ctx.home != "cpu":
            return comm.scatter(input, gpus, chunk_sizes, dim)
        streams = [_get_stream(_C.device("cuda", gpu)) for gpu in gpus]
        parts = comm.scatter(input, gpus, chunk_sizes, dim, streams)
        from rushlight.cuda import current_stream

        for part, copied in zip(parts, streams, strict=False):
            main = current_stream(part.device)
            main.wait_stream(copied)
            part.record_stream(main)
        return parts

    @staticmethod
    def backward(ctx, *grad_output):
        return None, None, None, Gather.apply(ctx.home, ctx.dim, *grad_output)
