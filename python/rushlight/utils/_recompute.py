"""The two runs of checkpoint(use_reentrant=False). In the first, hooks of saved tensors put a
Holder instead of each tensor; the first holder that a backward pass opens runs the function
again, whose saved tensors fill all holders for that pass, in order.

Note: a holder belongs to the graph, which frees it; the frame only refers to it weakly. Backward
passes may be nested or repeated, so a holder keeps tensors by pass.
"""

import contextlib
import traceback
import weakref

from rushlight import _C
from rushlight._grad_mode import enable_grad
from rushlight.amp import autocast
from rushlight.autograd.function import Function
from rushlight.autograd.graph import saved_tensors_hooks


class CheckpointError(RuntimeError):
    """The second run of a checkpoint() did not do what the first did."""


class State:
    """What both runs must have in common: random numbers, autocast and the default device."""

    def __init__(self, args, preserve_rng_state):
        devices = {a.device for a in args if isinstance(a, _C.Tensor)}
        gpus = sorted((d for d in devices if d.type == "cuda"), key=str)
        generators = [_C.default_generator, *map(_C._default_generator_of, gpus)]
        self._generators = [(g, g.get_state()) for g in generators] if preserve_rng_state else []
        self._device = _C.get_default_device()
        self._autocast = [
            (kind, _C.get_autocast_dtype(kind), _C.is_autocast_enabled(kind))
            for kind in ("cuda", "cpu")
        ]

    @contextlib.contextmanager
    def restored(self):
        """Puts it in force; afterwards all is as it was before."""
        now = [(g, g.get_state()) for g, _ in self._generators]
        try:
            for generator, state in self._generators:
                generator.set_state(state)
            with contextlib.ExitStack() as stack:
                stack.enter_context(self._device)
                for kind, dtype, enabled in self._autocast:
                    stack.enter_context(autocast(kind, dtype=dtype, enabled=enabled))
                yield
        finally:
            for generator, state in now:
                generator.set_state(state)


class _SavedArguments(Function):
    """Saves tensors as an operation would: hooks around the checkpoint see them, and a write to
    one of them before backward is noticed."""

    @staticmethod
    def forward(ctx, box, anchor, *tensors):
        ctx.save_for_backward(*tensors)
        box.append(ctx)
        return anchor.detach()

    @staticmethod
    def backward(ctx, *grads):
        return None


class _EarlyStop(Exception):
    """Ends the second run: all that the first had saved is there."""


class Holder:
    """Replaces one saved tensor: its tensor in each backward pass, None once it was used."""

    __slots__ = ("__weakref__", "tensors")

    def __init__(self):
        self.tensors = {}


class Frame:
    """One call of checkpoint()."""

    def __init__(self, run, args, state, context, *, compares, debug, early_stop):
        self.run, self.state, self.context = run, state, context
        self.compares, self.debug, self.early_stop = compares, debug, early_stop
        self.complete = False  # the first run is over
        self.holders, self.saved = [], []  # of the first run: weak references; what they are like
        self.ran = set()  # the passes for which the second run was made
        self.lines = []  # with debug, where the first run saved its tensors
        self.is_tensor = [isinstance(a, _C.Tensor) for a in args]
        self.others = [None if isinstance(a, _C.Tensor) else a for a in args]
        box = []
        # The result keeps the node, and with it the arguments.
        self.anchor = _SavedArguments.apply(
            box, _C.empty(0, device="cpu").requires_grad_(),
            *(a for a in args if isinstance(a, _C.Tensor)),
        )  # fmt: skip
        self.context_of_arguments = box[0]

    def recording(self):
        """The hooks of the first run."""
        return saved_tensors_hooks(self._keep, self._open)

    def _keep(self, tensor):
        holder = Holder()
        self.holders.append(weakref.ref(holder))
        self.saved.append(_likeness(tensor))
        if self.debug:
            self.lines.append(_line_of_program())
        return holder

    def _open(self, holder):
        # Outside of a pass, as in grad_fn._saved_self, each look is a pass of its own.
        run = _C._current_backward() or object()
        if run not in self.ran:
            _SecondRun(self, run).go()
            self.ran.add(run)
        kept = holder.tensors.get(run)
        if kept is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once."
            )
        holder.tensors[run] = None
        tensor, version = kept
        if tensor._version != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: {_likeness(tensor)} is at version {tensor._version}; expected "
                f"version {version} instead.\nthe function of a checkpoint() writes to a tensor "
                "that one of its operations needs for its gradient: write to a clone()"
            )
        return tensor

    def arguments(self):
        """Those of the first run, as leaves of a graph of their own."""
        tensors = iter(self.context_of_arguments.saved_tensors)
        pairs = zip(self.is_tensor, self.others, strict=True)
        return [next(tensors) if is_tensor else other for is_tensor, other in pairs]


class _SecondRun:
    """Fills the holders of a frame for one backward pass."""

    def __init__(self, frame, run):
        self.frame, self.run = frame, run
        self.count = 0
        self.partial = False  # the first run is still going on: backward was called within it
        self.saved, self.lines = [], []

    def go(self):
        frame = self.frame
        hooks = saved_tensors_hooks(self._fill, lambda tensor: tensor)
        try:
            with hooks, enable_grad(), frame.state.restored(), frame.context:
                frame.run(*frame.arguments())
        except _EarlyStop:
            pass
        self._compare()

    def _fill(self, tensor):
        frame, i = self.frame, self.count
        tensor = tensor.detach()
        self.count += 1
        if frame.debug:
            self.saved.append(_likeness(tensor))
            self.lines.append(_line_of_program())
        if i >= len(frame.holders):
            if not frame.complete:
                self.partial = True
                return tensor
            self._fail(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                "during the original forward pass."
            )
        holder = frame.holders[i]()
        if holder is not None:  # else a backward within the function has freed it
            holder.tensors[self.run] = (tensor, tensor._version)
        if frame.early_stop and self.count == len(frame.holders):
            raise _EarlyStop
        return tensor

    def _compare(self):
        frame = self.frame
        if self.partial:
            return
        if self.count != len(frame.holders):
            self._fail(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(frame.holders)}\n"
                f"Number of tensors saved during recomputation: {self.count}."
            )
        if not frame.compares:
            return
        differing = ""
        for i, (reference, before) in enumerate(zip(frame.holders, frame.saved, strict=True)):
            holder = reference()
            if holder is not None and (now := _likeness(holder.tensors[self.run][0])) != before:
                differing += (
                    f"tensor at position {i}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {now}\n"
                )
        if differing:
            self._fail(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{differing}"
            )

    def _fail(self, message):
        frame = self.frame
        if not frame.debug:
            raise CheckpointError(
                f"{message}\nthe function must do the same each time it runs. Pass debug=True to "
                "checkpoint(), or use set_checkpoint_debug_enabled(True), to see where it differs"
            )
        for title, saved, lines in (
            ("the original forward", frame.saved, frame.lines),
            ("recomputation", self.saved, self.lines),
        ):
            message += f"\n\nTensors saved during {title}:"
            for i, (like, line) in enumerate(zip(saved, lines, strict=True)):
                message += f"\n{i}: {like}\n{line}"
        raise CheckpointError(message)


def _likeness(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def _line_of_program():
    """The lines of the program that saved a tensor, without those of this package."""
    frames = [f for f in traceback.extract_stack() if "rushlight" not in f.filename.split("/")]
    return "".join(traceback.format_list(frames[-4:]))
