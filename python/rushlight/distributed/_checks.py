"""What all collectives check and do alike, before and after the engine's call."""

from __future__ import annotations

import functools
import inspect

import rushlight
from rushlight import _C
from rushlight.distributed._questions import get_global_rank, get_group_rank
from rushlight.distributed._work import Work, of
from rushlight.distributed._world import GroupMember, _member

_LISTS = ("_list", "tensors")
_MESSAGES = ("isend", "irecv")


def collective(*tensors):
    """A function that all members of a group call: it gets its ProcessGroup as `group`, after its
    tensors, and lists of tensors that may be left out, were checked. Where this process is not in
    the group, the function is not called, and None is returned.

    Args:
        tensors: the names of its tensors, and of its lists, which end in _LISTS.
    """

    def decorate(function):
        parameters = inspect.signature(function).parameters
        names = list(parameters)
        checks = [
            (names.index(name), name, check_tensors if name.endswith(_LISTS) else check_tensor)
            for name in tensors
        ]
        optional = {name for name in tensors if parameters[name].default is None}
        at = names.index("group")

        @functools.wraps(function)
        def checked(*args, **kwargs):
            found = []
            for i, name, check in checks:
                if i < len(args) or name in kwargs:
                    value = args[i] if i < len(args) else kwargs[name]
                    if name not in optional or value:
                        check(value, name)
                        found += [value] if check is check_tensor else value
            given = args[at] if at < len(args) else kwargs.pop("group", None)
            if (group := _member(given, function.__name__)) is None:
                return None
            group._admit(found, function.__name__ in _MESSAGES)
            if at < len(args):
                return function(*args[:at], group, *args[at + 1 :], **kwargs)
            return function(*args, group=group, **kwargs)

        return checked

    return decorate


def check_tensor(value, name):
    """torch's TypeError for what is no tensor."""
    if not isinstance(value, _C.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )
    if value.device.type == "meta":
        raise NotImplementedError(f"Cannot copy out of meta tensor; no data!\n{name}: {of(value)}")
    if value.is_complex():
        raise RuntimeError(f"Invalid scalar type\ncollectives have no {value.dtype}")


def check_tensors(values, name):
    """torch's TypeError for what is no list of tensors."""
    if not isinstance(values, list | tuple) or not all(isinstance(v, _C.Tensor) for v in values):
        kinds = [type(v) for v in values] if isinstance(values, list | tuple) else "none"
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} with elements of type {kinds}."
        )
    for each in values:
        check_tensor(each, name)


def check_same(name, tensors, like, shapes=True):
    for i, each in enumerate(tensors):
        if each.dtype != like.dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypes\nFound {each.dtype} and "
                f"{like.dtype}: {name}[{i}] is {of(each)}"
            )
        if shapes and each.numel() != like.numel():
            raise ValueError(
                f"tensors must have identical size\n{name}[{i}] is {of(each)}, not {of(like)}"
            )


def check_length(name, values, group):
    if len(values) != group.size():
        raise ValueError(
            f"{name} must have one tensor for each of the {group.size()} ranks, not {len(values)}"
        )


def flat(tensor):
    """Its elements in order: itself, or a copy."""
    return tensor.detach().contiguous()


def copy_back(target, source):
    """What remains to be done so that `target` holds `source`; None if it is its memory."""
    if target.device == source.device and target.data_ptr() == source.data_ptr():
        return None
    return lambda: target.detach().copy_(source.view(target.shape))


def empty(like, *shape):
    return rushlight.empty(shape, dtype=like.dtype, device=like.device)


def peer(group, rank, group_rank, name, default=None):
    """The rank in the group of a source or destination; `default` is one of the default group."""
    if rank is None and group_rank is None:
        rank = default
    if group_rank is not None:
        if rank is not None:
            raise ValueError(f"Can't specify both group_{name} and {name}")
        get_global_rank(group, group_rank)  # checks it
        return group_rank
    if rank is None:
        raise ValueError(f"Must specify {name} or group_{name}")
    if not isinstance(rank, int):
        raise TypeError(f"{name} must be an int, not {type(rank).__name__}")
    if group is GroupMember.WORLD and not 0 <= rank < group.size():
        raise RuntimeError(
            f"invalid root rank: {rank}\n{name} must be one of the {group.size()} ranks"
        )
    return get_group_rank(group, rank)


def fill(targets, rows):
    """Writes each rank's elements to its tensor of a list."""
    for target, row in zip(targets, rows, strict=True):
        target.detach().copy_(row.view(target.shape))


def done(group, async_op, result=(), finish=None):
    """A call that needs no engine."""
    if finish is not None:
        finish()
    return Work(group, result=result) if async_op else None


def end(work, async_op):
    """The Work, or None once it has ended; inside of a _coalescing_manager, that waits for it."""
    if work._group is not None and work._group._coalescing is not None:
        work._group._coalescing.append(work)
        return None
    if async_op:
        return work
    work.wait()
    return None
