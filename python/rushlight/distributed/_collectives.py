"""The collectives on tensors.

Arguments are checked first, as Gloo does not; then each is one call of the engine on contiguous
memory of the CPU, and what else has to be done is done when it is waited for.
"""

from __future__ import annotations

import functools

import rushlight
from rushlight import _C
from rushlight.distributed._checks import (
    check_length,
    check_same,
    collective,
    copy_back,
    done,
    empty,
    end,
    fill,
    flat,
    peer,
)
from rushlight.distributed._reduce_op import ReduceOp, plan
from rushlight.distributed._work import Call, Work, of
from rushlight.distributed._world import _default


def _reduction(group, call, tensor, op, name, **how):
    """(Work, the reduced elements) of an engine's reduction of one tensor."""
    dtype, number = plan(op, tensor, group)
    if isinstance(number, str):  # of bits: all ranks' elements, joined here
        given = flat(tensor)
        every = empty(given, group.size(), *given.shape)
        n = given.nbytes
        parts = [call.submit("all_gather", given, every, n)]
        join = getattr(rushlight, number)
        return parts, lambda: functools.reduce(join, every.unbind(0)), (given, every)
    given = flat(tensor)
    computed = given if dtype == given.dtype else given.to(dtype)
    kind, n = call.engine.kinds[dtype], computed.numel()
    n = n // group.size() if name == "reduce_scatter" else n
    result = computed if name == "all_reduce" else empty(computed, n)
    parts = [call.submit(name, computed, result, n, kind, number, **how)]

    def reduced():
        found = result if dtype == tensor.dtype else result.to(tensor.dtype)
        if op != ReduceOp.AVG:
            return found
        whole = None if dtype.is_floating_point else "trunc"
        return found.div_(group.size(), rounding_mode=whole)

    return parts, reduced, (computed, result)


def _reduce_words(tensor, op):
    return f"{of(tensor)}, {ReduceOp(op).name}"


@collective("tensor")
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Replaces a tensor on every rank by the sum, or another reduction, of all ranks' tensors.

    Args:
        tensor: input and result, of the same shape and dtype on all ranks.
        op: a ReduceOp.
        group: the default group where it is None.
        async_op: return a Work at once.

    Returns:
        A Work, or None where async_op is False or this process is not in the group.

    >>> torch.distributed.all_reduce(x)  # doctest: +SKIP
    """
    plan(op, tensor, group)
    if group.size() == 1:
        return done(group, async_op, [tensor])
    call = Call(group, "all_reduce", _reduce_words(tensor, op), tensor.device)
    parts, reduced, kept = _reduction(group, call, tensor, op, "all_reduce")

    def finish():
        found = reduced()
        if copying := copy_back(tensor, found):
            copying()

    return end(group._hold(Work(group, call, parts, finish, [tensor]), (tensor, *kept)), async_op)


@collective("tensor")
def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """all_reduce whose result only one rank gets; the others' tensors stay as they are.

    Args:
        tensor: input, and on `dst` the result.
        dst: the rank in the default group that gets it.
        op: a ReduceOp.
        group: the default group where it is None.
        async_op: return a Work at once.
        group_dst: the rank in `group`, instead of dst.
    """
    root = peer(group, dst, group_dst, "dst")
    plan(op, tensor, group)
    if group.size() == 1:
        return done(group, async_op, [tensor])
    call = Call(group, "reduce", f"{_reduce_words(tensor, op)}, to {root}", tensor.device)
    parts, reduced, kept = _reduction(group, call, tensor, op, "reduce", peer=root)

    def finish():
        if group.rank() == root:
            tensor.detach().copy_(reduced().view(tensor.shape))

    return end(group._hold(Work(group, call, parts, finish, [tensor]), (tensor, *kept)), async_op)


@collective("tensor")
def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Replaces a tensor on every rank by that of one rank.

    Args:
        tensor: input on `src`, result elsewhere.
        src: the rank in the default group that gives it.
        group: the default group where it is None.
        async_op: return a Work at once.
        group_src: the rank in `group`, instead of src.

    >>> torch.distributed.broadcast(x, 0)  # doctest: +SKIP
    """
    root = peer(group, src, group_src, "src")
    if group.size() == 1:
        return done(group, async_op, [tensor])
    data = flat(tensor)
    call = Call(group, "broadcast", f"{of(tensor)}, from {root}", tensor.device)
    n = data.nbytes
    finish = None if group.rank() == root else copy_back(tensor, data)
    work = group._start(call, "broadcast", data, data, n, finish, [tensor], peer=root)
    work._result = [tensor]
    return end(work, async_op)


@collective("input_tensor", "output_tensor")
def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Fills a tensor with the tensors of all ranks, one behind the other.

    Args:
        output_tensor: of as many elements as all inputs together.
        input_tensor: this rank's.
        group: the default group where it is None.
        async_op: return a Work at once.
    """
    check_same("output_tensor", [output_tensor], input_tensor, shapes=False)
    if output_tensor.numel() != input_tensor.numel() * group.size():
        raise ValueError(
            "output tensor size must be equal to world_size times input tensor size\n"
            f"output_tensor is {of(output_tensor)}, input_tensor {of(input_tensor)}, "
            f"world_size {group.size()}"
        )
    given = flat(input_tensor)
    whole = output_tensor.is_contiguous()
    every = output_tensor.detach() if whole else empty(given, *output_tensor.shape)
    copying = copy_back(output_tensor, every)
    if group.size() == 1:
        output_tensor.detach().copy_(given.view(output_tensor.shape))
        return done(group, async_op, [output_tensor])
    call = Call(group, "all_gather", of(input_tensor), input_tensor.device)
    n = given.nbytes
    work = group._start(call, "all_gather", given, every, n, copying, [output_tensor])
    return end(work, async_op)


@collective("tensor_list", "tensor")
def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fills a list with the tensors of all ranks.

    Args:
        tensor_list: a tensor for each rank, of the shape of its tensor.
        tensor: this rank's.
        group: the default group where it is None.
        async_op: return a Work at once.

    >>> torch.distributed.all_gather([a, b], x)  # doctest: +SKIP
    """
    check_length("tensor_list", tensor_list, group)
    check_same("tensor_list", tensor_list, tensor)
    given = flat(tensor)
    every = empty(given, group.size(), *given.shape)

    finish = functools.partial(fill, tensor_list, every)

    if group.size() == 1:
        every[0] = given
        return done(group, async_op, tensor_list, finish)
    call = Call(group, "all_gather", of(tensor), tensor.device)
    n = given.nbytes
    work = group._start(call, "all_gather", given, every, n, finish, tensor_list)
    work._result = list(tensor_list)
    return end(work, async_op)


@collective("tensor", "gather_list")
def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Fills a list on one rank with the tensors of all ranks.

    Args:
        tensor: this rank's.
        gather_list: on `dst`, a tensor for each rank; elsewhere None.
        dst: the rank in the default group that gets them; 0 by default.
        group: the default group where it is None.
        async_op: return a Work at once.
        group_dst: the rank in `group`, instead of dst.
    """
    root = peer(group, dst, group_dst, "dst", default=0)
    if group.rank() == root:
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        check_length("gather_list", gather_list, group)
        check_same("gather_list", gather_list, tensor)
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    given = flat(tensor)
    every = empty(given, group.size(), *given.shape) if group.rank() == root else None

    finish = functools.partial(fill, gather_list, every)

    if group.size() == 1:
        every[0] = given
        return done(group, async_op, gather_list, finish)
    call = Call(group, "gather", f"{of(tensor)}, to {root}", tensor.device)
    n = given.nbytes
    last = finish if group.rank() == root else None
    work = group._start(call, "gather", given, every, n, last, gather_list or (), peer=root)
    work._result = list(gather_list or ())
    return end(work, async_op)


@collective("tensor", "scatter_list")
def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Gives each rank one tensor of a list of one rank.

    Args:
        tensor: the result.
        scatter_list: on `src`, a tensor for each rank; elsewhere None.
        src: the rank in the default group that gives them; 0 by default.
        group: the default group where it is None.
        async_op: return a Work at once.
        group_src: the rank in `group`, instead of src.
    """
    root = peer(group, src, group_src, "src", default=0)
    if group.rank() == root:
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        check_length("scatter_list", scatter_list, group)
        check_same("scatter_list", scatter_list, tensor)
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    if group.size() == 1:
        tensor.detach().copy_(scatter_list[0].view(tensor.shape))
        return done(group, async_op, [tensor])
    given = None
    if group.rank() == root:
        given = rushlight.stack([flat(each).view(-1) for each in scatter_list])
    target = flat(tensor)
    call = Call(group, "scatter", f"{of(tensor)}, from {root}", tensor.device)
    n = target.nbytes
    work = group._start(
        call, "scatter", given, target, n, copy_back(tensor, target), [tensor], peer=root
    )
    work._result = [tensor]
    return end(work, async_op)


@collective()
def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Waits until all ranks have called it.

    Args:
        group: the default group where it is None.
        async_op: return a Work at once.
        device_ids: with NCCL, a list with the index of this rank's GPU.
        timeout: a timedelta; that of the group by default.
    """
    device = group._barrier_device(device_ids)
    if group.size() == 1:
        return done(group, async_op)
    call = Call(group, "barrier", f"{group.size()} ranks", device)
    work = group._start(call, "barrier", None, None, 0)
    if async_op:
        return work
    work.wait(timeout)
    return None


@collective()
def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier through the store, whose error names the ranks that did not come.

    Args:
        group: the default group where it is None.
        timeout: a timedelta; that of the group by default.
        wait_all_ranks: accepted; all missing ranks are always named.

    Raises:
        RuntimeError: ranks are missing after the time-out.
    """
    if "gloo" not in group._served.values():
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    if group.size() == 1:
        return
    call = Call(group, "monitored_barrier", f"{group.size()} ranks")
    call.take_number()
    seconds = group._timeout if timeout is None else timeout.total_seconds()
    keys = [f"barrier/{call.number}/{r}" for r in range(group.size())]
    group._store.set(keys[group.rank()], "1")
    try:
        group._store.wait(keys, float(seconds))
    except _C._distributed.DistStoreError:
        away = [group._ranks[r] for r, key in enumerate(keys) if not group._store.check([key])]
        names = f"Rank {away[0]}" if len(away) == 1 else f"Ranks {', '.join(map(str, away))}"
        raise RuntimeError(
            f"[Rank {_default().rank()}]: {names} failed to pass monitoredBarrier in "
            f"{seconds * 1000:.0f} ms"
        ) from None
