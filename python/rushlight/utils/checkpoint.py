"""checkpoint: less memory for activations, as backward computes them again."""

import warnings
from contextlib import nullcontext

from rushlight import _C
from rushlight._modes import enable_grad
from rushlight.autograd import backward as run_backward
from rushlight.autograd.function import Function

__all__ = ["checkpoint", "checkpoint_sequential"]


def _detached(value):
    if not isinstance(value, _C.Tensor):
        return value
    copy = value.detach()
    return copy.requires_grad_(value.requires_grad)


def _generators(values):
    """The default generators that a computation on these values may draw from."""
    devices = {v.device for v in values if isinstance(v, _C.Tensor) and v.is_cuda}
    return [_C.default_generator, *(_C.default_generator_of(d) for d in sorted(devices, key=str))]


class _Checkpoint(Function):
    @staticmethod
    def forward(ctx, run, draws, anchor, *args):
        """Runs without recording; keeps the arguments and where the random numbers stood."""
        ctx.run = run
        ctx.states = [(g, g.get_state()) for g in _generators(args)] if draws else []
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, _C.Tensor)]
        ctx.rest = [None if isinstance(a, _C.Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return run(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Runs again, recording, with the same random numbers, and goes back through that."""
        args = list(ctx.rest)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = _detached(tensor)
        now = [(g, g.get_state()) for g, _ in ctx.states]
        try:
            for generator, state in ctx.states:
                generator.set_state(state)
            with enable_grad():
                outputs = ctx.run(*args)
        finally:
            for generator, state in now:
                generator.set_state(state)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (out, g)
            for out, g in zip(outputs, grads, strict=True)
            if isinstance(out, _C.Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        run_backward([p[0] for p in pairs], [p[1] for p in pairs])
        of_args = (a.grad if isinstance(a, _C.Tensor) else None for a in args)
        return (None, None, None, *of_args)


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    early_stop=True,
    preserve_rng_state=True,
    **kwargs,
):
    """function(*args), keeping no activations: backward runs it a second time.

    Args:
        function: what runs; it must do the same when it runs again.
        args: its arguments; gradients flow through tensors among them.
        use_reentrant: False lets parameters inside get gradients even if no argument needs one,
            and allows keyword arguments; True is the older way.
        context_fn: makes the two contexts in which it runs, first and again; not with True.
        preserve_rng_state: the second run draws the same random numbers.

    >>> layer = torch.nn.Linear(2, 2)
    >>> x = torch.ones(1, 2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
    >>> x.grad.shape, layer.weight.grad.shape
    (torch.Size([1, 2]), torch.Size([2, 2]))
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant and (kwargs or context_fn is not None):
        unknown = ", ".join(kwargs) or "context_fn"
        raise ValueError(
            f"Unexpected keyword arguments: {unknown}\n"
            "checkpoint(use_reentrant=True) takes none; use_reentrant=False does"
        )
    contexts = context_fn() if context_fn is not None else (nullcontext(), nullcontext())
    waiting = list(contexts)

    def run(*values):
        with waiting.pop(0) if waiting else contexts[1]:
            return function(*values, **kwargs)

    needs = any(isinstance(a, _C.Tensor) and a.requires_grad for a in args)
    if use_reentrant and not needs:
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )
    # Without an argument that needs a gradient nothing would call backward: this one does.
    anchor = None if use_reentrant else _C.empty(0).requires_grad_()
    return _Checkpoint.apply(run, preserve_rng_state, anchor, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Functions one after another, each segment of them but the last as one checkpoint().

    Args:
        functions: a Sequential or a sequence of functions of one argument.
        segments: how many parts they are cut into.
        input: what the first one is given.
        use_reentrant: as in checkpoint().

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    >>> x = torch.ones(3, 2)
    >>> run = torch.utils.checkpoint.checkpoint_sequential
    >>> run(model, 2, x, use_reentrant=False).shape
    torch.Size([3, 1])
    """
    draws = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions)
    size = len(functions) // segments
    if size == 0:
        raise ValueError(f"{len(functions)} functions cannot be cut into {segments} segments")

    def part(begin, end):
        def run(value):
            for function in functions[begin:end]:
                value = function(value)
            return value

        return run

    for i in range(segments - 1):
        input = checkpoint(
            part(i * size, (i + 1) * size),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=draws,
        )
    return part((segments - 1) * size, None)(input)
