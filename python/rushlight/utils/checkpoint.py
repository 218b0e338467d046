"""checkpoint: less memory for activations, as backward computes them again.

use_reentrant=False replaces by a holder each tensor that the function's operations save
(_recompute.py); use_reentrant=True is one Function that runs the whole again in its backward.
"""

import contextlib
import enum
import warnings

from rushlight import _C
from rushlight._grad_mode import enable_grad
from rushlight.autograd import backward as run_backward
from rushlight.autograd.function import Function
from rushlight.utils._pytree import tree_leaves
from rushlight.utils._recompute import CheckpointError, Frame, State

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext",
    "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip

_early_stop = None  # set by set_checkpoint_early_stop()
_debug = None  # set by set_checkpoint_debug_enabled()


def noop_context_fn():
    """The default `context_fn` of checkpoint(): two contexts that have no effect.

    >>> first, second = torch.utils.checkpoint.noop_context_fn()
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


class CheckpointPolicy(enum.Enum):
    """What a policy says of an operation's result: keep it for backward, or compute it again.

    Args:
        value: the number of a member.

    >>> torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE.value
    0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4


class SelectiveCheckpointContext:
    """What a policy is told of the run.

    Args:
        is_recompute: whether it is the second run.

    >>> torch.utils.checkpoint.SelectiveCheckpointContext(is_recompute=True).is_recompute
    True
    """

    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """A `context_fn` of checkpoint() by policy. Gradients are the same under every policy; here
    backward computes every operation again, whatever it says, and the policy is not called.

    Args:
        policy_fn_or_list: a function of (context, op, *args, **kwargs) that returns a
            CheckpointPolicy, or a list of the operations to keep.
        allow_cache_entry_mutation: accepted, as nothing is kept.

    Raises:
        TypeError: for anything else.

    >>> from functools import partial
    >>> context = torch.utils.checkpoint.create_selective_checkpoint_contexts
    >>> keep = partial(context, [torch.ops.aten.mm.default])
    >>> x = torch.ones(1, requires_grad=True)
    >>> run = torch.utils.checkpoint.checkpoint
    >>> run(torch.exp, x, use_reentrant=False, context_fn=keep).backward()
    """
    if not callable(policy_fn_or_list) and not isinstance(policy_fn_or_list, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool):
    """Overrides `early_stop` of every checkpoint() inside.

    Args:
        enable: the value of `early_stop`.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
    """
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Overrides `debug` of every checkpoint() inside; None leaves it as it is.

    Args:
        enabled: the value of `debug`; None leaves it to each call.

    >>> with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     pass
    """
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


def detach_variable(inputs):
    """Copies of the tensors in a tuple that share memory but not the graph.

    Args:
        inputs: a tuple of tensors and other values.

    >>> torch.utils.checkpoint.detach_variable((torch.ones(1, requires_grad=True), 3))
    (tensor([1.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.Tensor) else x
        for x in inputs
    )


def check_backward_validity(inputs):
    """Warns if no tensor among the inputs requires gradients.

    Args:
        inputs: an iterable.

    >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, _C.Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3
        )


def get_device_states(*args):
    """The states of the generators of the GPUs on which tensors of the arguments are.

    Args:
        *args: tensors, nested in lists, tuples and dicts, and other values.

    Returns: (indices of the devices, their states).

    >>> torch.utils.checkpoint.get_device_states(torch.ones(1))
    ([], [])
    """
    devices = [a.device for a in tree_leaves(args) if isinstance(a, _C.Tensor) and a.is_cuda]
    return [d.index for d in devices], [_C._default_generator_of(d).get_state() for d in devices]


def set_device_states(devices, states, *, device_type=None):
    """Gives generators of GPUs the states that get_device_states() returned.

    Args:
        devices: indices of devices.
        states: one for each.
        device_type: "cuda", which None means, or "meta", which has no generators.

    >>> torch.utils.checkpoint.set_device_states([], [])
    """
    if device_type == "meta":
        return
    for index, state in zip(devices, states, strict=False):
        _C._default_generator_of(_C.device(device_type or "cuda", index)).set_state(state)


class CheckpointFunction(Function):
    """checkpoint(use_reentrant=True): the call is one node, its backward a pass of its own.

    >>> x = torch.ones(1, requires_grad=True)
    >>> torch.utils.checkpoint.CheckpointFunction.apply(torch.exp, True, x).backward()
    >>> x.grad
    tensor([2.7183])
    """

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        """Runs without recording; keeps the arguments and the state of the generators."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = State(args, preserve_rng_state)
        ctx.indices = [i for i, a in enumerate(args) if isinstance(a, _C.Tensor)]
        ctx.inputs = [None if isinstance(a, _C.Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.indices))
        return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Runs again, recording, with the same random numbers, and runs backward through that."""
        if not _C._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.inputs)
        for i, tensor in zip(ctx.indices, ctx.saved_tensors, strict=True):
            args[i] = tensor
        args = detach_variable(tuple(args))
        with ctx.state.restored(), enable_grad():
            outputs = ctx.run_function(*args)
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
        return (None, None, *(a.grad if isinstance(a, _C.Tensor) else None for a in args))


def checkpoint(
    function,
    *args,
    use_reentrant: bool | None = None,
    context_fn=noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs,
):
    """function(*args, **kwargs), without keeping its activations: backward computes them again.

    `context_fn`, `determinism_check`, `debug` and `early_stop` are of use_reentrant=False.

    Args:
        function: must do the same operations each time it runs.
        *args, **kwargs: its arguments; gradients flow through the tensors among them.
        use_reentrant: False, recommended: works with autograd.grad, second derivatives, keyword
            arguments, and where only parameters require grad. True: the older way, a backward pass
            inside of backward; it can do none of these.
        preserve_rng_state: the second run draws the same random numbers. True by default.
        context_fn: returns two context managers, for the first and for the second run.
        determinism_check: "default" compares shape, dtype and device of what the two runs save;
            "none" does not.
        debug: where the runs differ, the error lists what each saved, and at which lines.
        early_stop: end the second run at the last tensor that backward needs.

    Returns:
        What function returns.

    Raises:
        CheckpointError: from backward, if the two runs saved different tensors.
        ValueError: for arguments that use_reentrant=True does not have.

    >>> layer = torch.nn.Linear(2, 2)
    >>> x = torch.ones(1, 2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
    >>> x.grad.shape, layer.weight.grad.shape
    (torch.Size([1, 2]), torch.Size([2, 2]))
    """
    if use_reentrant is None:
        _warn_of_default("")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {','.join(kwargs)}\n"
                "checkpoint(use_reentrant=True) takes none; use_reentrant=False does"
            )
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    debug = debug if _debug is None else _debug
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    first, second = context_fn()
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    frame = Frame(
        lambda *values: function(*values, **kwargs),
        args,
        State(args, preserve),
        second,
        compares=determinism_check == "default",
        debug=debug,
        early_stop=early_stop if _early_stop is None else _early_stop,
    )
    with frame.recording(), first:
        result = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. This is not supported because "
            "checkpoint cannot return a value for a failed forward."
        )
    return result


def checkpoint_sequential(functions, segments: int, input, use_reentrant=None, **kwargs):
    """Functions one after another, each segment of them but the last as one checkpoint().

    Args:
        functions: a Sequential or a sequence of functions of one argument.
        segments: how many segments.
        input: the argument of the first function.
        use_reentrant: as in checkpoint().
        **kwargs: preserve_rng_state, as in checkpoint().

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    >>> x = torch.ones(3, 2)
    >>> run = torch.utils.checkpoint.checkpoint_sequential
    >>> run(model, 2, x, use_reentrant=False).shape
    torch.Size([3, 1])
    """
    if use_reentrant is None:
        _warn_of_default(".checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
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
            preserve_rng_state=preserve,
        )
    return part((segments - 1) * size, None)(input)


def _warn_of_default(name):
    warnings.warn(
        f"torch.utils.checkpoint{name}: the use_reentrant parameter should be passed explicitly. "
        "use_reentrant=False is recommended; use_reentrant=True keeps the current default.",
        stacklevel=3,
    )
