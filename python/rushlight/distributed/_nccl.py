"""NCCL's rules: what a group takes of the GPUs' tensors, and one GPU for each rank.

On virtual GPUs the engine is Gloo (_gloo.py), which reads their memory as the CPU's.
"""

from __future__ import annotations

import contextlib
import os
import socket
import warnings
import weakref

from rushlight import _C
from rushlight.cuda import _device
from rushlight.distributed import _gloo

DistBackendError = _C._distributed.DistBackendError
_groups: weakref.WeakSet = weakref.WeakSet()  # whose calls torch.cuda.synchronize() waits for
_TYPES = {
    _C.int8, _C.uint8, _C.int32, _C.int64, _C.float16, _C.float32, _C.float64, _C.bfloat16, _C.bool,
}  # fmt: skip
_NAMES = {_C.int16: "Short"}


def is_available() -> bool:
    """Whether there are GPUs, and an engine for them."""
    return _C._cuda.device_count() > 0 and _gloo.is_virtual() and _gloo.is_available()


def check_gpus():
    """torch's error where there is no GPU."""
    if not _C._cuda.device_count():
        raise ValueError(
            "ProcessGroupNCCL is only supported with GPUs, no GPUs found!\n"
            f"{_C._cuda.why_not()}\nbackend='gloo' is for CPUs"
        )
    if not _gloo.is_virtual():
        raise RuntimeError(
            "Distributed package doesn't have NCCL built in for real GPUs yet\n"
            "backend='gloo' serves them, through the CPU's memory"
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
    """What is under way on a GPU ends; its errors are for who waits for the call."""
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


class Communicators:
    """What NCCL knows of one group: which GPU each rank works on.

    As NCCL's, they are made at the first call on a device, by all ranks, or, where that is a send
    or a receive, by the two of them.
    """

    def __init__(self, group, bound):
        self.group, self.bound = group, bound
        self.used: list[int] = []
        self.pairs: set[int] = set()
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
        """The ranks of a first call on a device (all, or this and another) tell their GPUs."""
        group = self.group
        if group.size() == 1 or device.index in self.used or (other is not None and
                                                              other in self.pairs):  # fmt: skip
            return
        own = group.rank()
        ranks = list(range(group.size())) if other is None else sorted((own, other))
        name = "all" if other is None else f"{ranks[0]}:{ranks[1]}"
        self.tried[name] = number = self.tried.get(name, 0) + 1
        known = group._meet(f"nccl/{name}/{number}", _identity(device), ranks)
        self._refuse_duplicates(dict(zip(ranks, known, strict=True)))
        if other is None:
            self.used.append(device.index)
        else:
            self.pairs.add(other)

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
                stacklevel=4,
            )
        return _C.device("cuda", _C._cuda.current_device())
