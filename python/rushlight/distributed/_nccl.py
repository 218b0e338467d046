"""NCCL's rules: what a group takes of the GPUs' tensors, and one GPU for each rank.

On virtual GPUs the engine is Gloo (_gloo.py), which reads their memory as the CPU's.
"""

from __future__ import annotations

import contextlib
import os
import socket
import warnings
import weakref

import rushlight
from rushlight import _C
from rushlight.cuda import _device
from rushlight.distributed import _gloo

DistBackendError = _C._distributed.DistBackendError
_groups: weakref.WeakSet = weakref.WeakSet()  # whose calls torch.cuda.synchronize() waits for
_engines: list = []  # what NCCL has made, which a forked child may not free
_TYPES = {
    _C.int8, _C.uint8, _C.int32, _C.int64, _C.float16, _C.float32, _C.float64, _C.bfloat16, _C.bool,
}  # fmt: skip
_NAMES = {_C.int16: "Short"}


def is_available() -> bool:
    """Whether there are GPUs, and an engine for them."""
    if not _C._cuda.device_count():
        return False
    if _gloo.is_virtual():
        return _gloo.is_available()
    return any(name == "NCCL" and version for name, version, _ in _C._cuda_libraries())


def check_gpus():
    """torch's error where there is no GPU."""
    if not _C._cuda.device_count():
        raise ValueError(
            "ProcessGroupNCCL is only supported with GPUs, no GPUs found!\n"
            f"{_C._cuda.why_not()}\nbackend='gloo' is for CPUs"
        )


def check_op(name, dtype):
    """torch's errors for a ReduceOp that NCCL lacks."""
    if name in ("BAND", "BOR", "BXOR"):
        raise ValueError(f"Cannot use ReduceOp.{name} with NCCL")
    if name == "AVG" and dtype == _C.bool:
        raise TypeError("Cannot use ReduceOp.AVG with Boolean inputs")


def check_device(device):
    """The device that init_process_group's `device_id` means; ValueError in torch's words."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        if not _C._cuda.device_count():
            raise ValueError(
                "device_id is an int, but no accelerator support is found from the current "
                f"compilation.\n{_C._cuda.why_not()}"
            )
        device = _C.device("cuda", device)
    if not isinstance(device, _C.device):
        raise TypeError(f"device_id must be an int or a torch.device, not {type(device).__name__}")
    if device.type == "cpu":
        raise ValueError(
            "init_process_group device_id parameter must be an accelerator with an index"
        )
    if device.type != "cuda" or not _C._cuda.device_count():
        raise ValueError(
            f"device_id {device} does not match the current compilation's accelerator support"
        )
    if device.index is None:
        raise ValueError("Please use a device_id with index.")
    if device.index >= _C._cuda.device_count():
        raise ValueError(
            f"device_id {device} is out of range. Please use a device index less than the number "
            f"of accelerators available: {_C._cuda.device_count()}."
        )
    return device


def _wait_for_calls(index):
    """Waits for the calls under way on a GPU; errors are left for the caller of Work.wait()."""
    for group in list(_groups):
        for work in list(group._pending):
            if any(t.device.index == index for t in work._result):
                with contextlib.suppress(DistBackendError):
                    work.wait()


def _identity(device):
    """host|uuid|device: what two ranks may not share. Each host of a launcher counts as one."""
    host, node = socket.gethostname(), os.environ.get("GROUP_RANK", "0")
    uuid = _C._cuda.properties(device.index)["uuid"]
    return f"{host}/{node}|{uuid}|{device}"


class Engine:
    """NCCL's own communicator of some ranks of a group, on one GPU each."""

    kinds = dict.fromkeys(_TYPES, 0)  # the tensors say it themselves
    scatters = True

    def __init__(self, group, device, ranks, name):
        self.ranks, self.device = ranks, device
        own, key = ranks.index(group.rank()), f"nccl/id/{name}"
        if own == 0:
            group._store.set(key, _C._distributed._new_nccl_id())
        group._store.wait([key], float(group._timeout))
        self._nccl = _C._distributed._Nccl(
            device.index, group._store.get(key), own, len(ranks), group._timeout
        )
        self.abort, self.broken, self.close = self._nccl.abort, self._nccl.broken, self._nccl.close
        _engines.append(self._nccl)

    def submit(self, call, given, result, count, tag, kind=1, reduction=0, peer=0):
        """Starts a call; returns a _NcclWork. NCCL has no tags, and no barrier: a sum serves."""
        blocks = call == "barrier" or os.environ.get("TORCH_NCCL_BLOCKING_WAIT") == "1"
        if call == "barrier":
            call, count, given = "all_reduce", 1, rushlight.zeros(1, device=self.device)
            result = given
        elif "reduce" not in call:
            count //= (result if given is None else given).element_size()
        if count == 0:
            return _Nothing()
        place = self.ranks.index(peer) if len(self.ranks) == 2 else peer
        return self._nccl.submit(
            call, given, result, count, reduction, place, len(self.ranks), blocks
        )

    def overdue(self, seconds):
        """Never: NCCL's engine looks at its time-outs itself."""
        return False

    @contextlib.contextmanager
    def together(self):
        """The calls within are one piece of work: sends and receives that wait for each other."""
        self._nccl.begin()
        try:
            yield
        finally:
            self._nccl.end()


class _Nothing:
    """A call of no elements."""

    def wait(self, seconds):
        return True

    def is_done(self):
        return True

    def error(self):
        return ""


def _after_fork():
    for engine in _engines:
        _C._distributed._keep_for_ever(engine)


os.register_at_fork(after_in_child=_after_fork)


class Communicators:
    """What NCCL knows of one group: which GPU each rank works on.

    As NCCL's, they are made at the first call on a device, by all ranks, or, where that is a send
    or a receive, by the two of them.
    """

    def __init__(self, group, bound):
        self.group, self.bound = group, bound
        self.real = not _gloo.is_virtual()
        self.used: dict[int, Engine] = {}  # by the index of the device
        self.pairs: dict[int, Engine] = {}  # by the other rank
        self.held = False  # the calls of several ranks begin together
        self.tried: dict[str, int] = {}
        _groups.add(group)
        _device.more_to_wait_for.add(_wait_for_calls)

    def admit(self, tensors, message):
        """Raises torch's errors for tensors that NCCL does not take."""
        for each in tensors:
            if each.device.type != "cuda":
                raise ValueError(f"Tensors must be CUDA and dense\none is on {each.device}")
            if each.device != tensors[0].device:
                raise ValueError(
                    "Expected list of tensors on the same device\n"
                    f"they are on {tensors[0].device} and {each.device}"
                )
            if each.dtype not in _TYPES:
                name = _NAMES.get(each.dtype, str(each.dtype).rpartition(".")[2])
                raise TypeError(
                    f"Input tensor data type is not supported for NCCL process group: {name}"
                )
            if not message and not (
                each.is_contiguous() or each.is_contiguous(memory_format=_C.channels_last)
            ):
                raise ValueError(
                    f"Tensors must be contiguous\none has sizes {list(each.shape)} and strides "
                    f"{list(each.stride())}: use .contiguous()"
                )
            if self.bound is not None and each.device != self.bound:
                raise DistBackendError(
                    "Attempt to perform collective on tensor not on device passed to "
                    f"init_process_group\nthe tensor is on {each.device}, device_id is {self.bound}"
                )

    def connect(self, device, other=None):
        """The engine of a call. The ranks of the first one on a device (all, or this and another)
        tell their GPUs."""
        group = self.group
        if group.size() == 1:
            return None
        if device.index in self.used:
            return self.used[device.index]
        other = None if self.held else other
        if other in self.pairs:
            return self.pairs[other]
        own = group.rank()
        ranks = list(range(group.size())) if other is None else sorted((own, other))
        name = "all" if other is None else f"{ranks[0]}:{ranks[1]}"
        self.tried[name] = number = self.tried.get(name, 0) + 1
        known = group._meet(f"nccl/{name}/{number}", _identity(device), ranks)
        self._refuse_duplicates(dict(zip(ranks, known, strict=True)))
        engine = Engine(group, device, ranks, f"{name}/{number}") if self.real else group._engine
        if other is None:
            self.used[device.index] = engine
        else:
            self.pairs[other] = engine
        return engine

    def engines(self):
        """All of them that are NCCL's own."""
        return [*self.used.values(), *self.pairs.values()] if self.real else []

    @contextlib.contextmanager
    def together(self, device):
        """The sends and receives within are one piece of work."""
        self.held = True
        try:
            engine = self.connect(device)
            with engine.together() if engine is not None else contextlib.nullcontext():
                yield
        finally:
            self.held = False

    def _refuse_duplicates(self, known):
        own, seen = self.group.rank(), {}
        pairs = []
        for rank, identity in known.items():
            key = identity.rpartition("|")[0]
            if key in seen:
                pairs.append((rank, seen[key]))
            seen.setdefault(key, rank)
        if not pairs:
            return
        pair = next((p for p in pairs if own in p), pairs[0])
        a, b = pair if pair[1] != own else pair[::-1]
        named = {r: self.group._ranks[r] for r in (a, b)}
        where = [f"rank {named[r]} is on {known[r].split('|')[2]} of host {known[r].split('|')[0]}"
                 for r in (a, b)]  # fmt: skip
        raise DistBackendError(
            "NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)\n"
            "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n"
            f"Duplicate GPU detected : rank {named[a]} and rank {named[b]} both on CUDA device "
            f"{known[a].split('|')[2].partition(':')[2]}\n{where[0]}, {where[1]}: give each rank a "
            "GPU of its own, by torch.cuda.set_device(LOCAL_RANK) or device_id="
        )

    def barrier_device(self, device_ids):
        """The device of a barrier, as torch chooses it."""
        if isinstance(device_ids, list) and device_ids:
            return check_device(device_ids[0])
        if self.bound is not None:
            return self.bound
        if self.group.rank() == 0:
            warnings.warn(
                "barrier(): using the device under current context. You can specify `device_id` in "
                "`init_process_group` to mute this warning.",
                stacklevel=5,
            )
        return _C.device("cuda", _C._cuda.current_device())
