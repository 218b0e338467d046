"""Collectives of several tensors in one message."""

from __future__ import annotations

import contextlib

import rushlight
from rushlight.distributed._checks import check_tensors, collective, done, end, flat
from rushlight.distributed._collectives import _reduction, all_gather
from rushlight.distributed._reduce_op import ReduceOp, plan
from rushlight.distributed._work import Call, Work, of
from rushlight.distributed._world import _group_of


def _check_one_dtype(tensors, name):
    if not tensors:
        raise ValueError(f"{name} is empty: at least one tensor is needed")
    for each in tensors[1:]:
        if each.dtype != tensors[0].dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypes\n"
                f"Found {tensors[0].dtype} and {each.dtype} in {name}"
            )


@collective("tensors")
def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of several tensors, which travel as one.

    Args:
        tensors: a list, with the same shapes and the same dtype on all ranks.
        op: a ReduceOp.
        group: the default group where it is None.
        async_op: return a Work at once.

    >>> torch.distributed.all_reduce_coalesced([weight.grad, bias.grad])  # doctest: +SKIP
    """
    _check_one_dtype(tensors, "tensors")
    plan(op, tensors[0], group)
    if group.size() == 1:
        return done(group, async_op, tensors)
    joined = rushlight.cat([flat(each).view(-1) for each in tensors])
    words = f"{', '.join(map(of, tensors))}, {ReduceOp(op).name}"
    call = Call(group, "all_reduce_coalesced", words, joined.device)
    parts, reduced, kept = _reduction(group, call, joined, op, "all_reduce")

    def finish():
        rows = reduced().split([each.numel() for each in tensors])
        for each, row in zip(tensors, rows, strict=True):
            each.detach().copy_(row.view(each.shape))

    return end(group._hold(Work(group, call, parts, finish, tensors), (tensors, *kept)), async_op)


@collective("input_tensor_list")
def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of several tensors.

    Args:
        output_tensor_lists: for each rank, a list with a tensor for each of its input tensors.
        input_tensor_list: this rank's.
        group: the default group where it is None.
        async_op: return a Work at once.

    >>> torch.distributed.all_gather_coalesced([[a, b], [c, d]], [x, y])  # doctest: +SKIP
    """
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for each in output_tensor_lists:
        check_tensors(each, "output_tensor_lists")
        if len(each) != len(input_tensor_list):
            raise ValueError(
                f"output_tensor_lists has {len(each)} tensors for a rank, and input_tensor_list "
                f"{len(input_tensor_list)}"
            )
    works = []
    for i, given in enumerate(input_tensor_list):
        works.append(all_gather([each[i] for each in output_tensor_lists], given, group, True))
    return end(Works(works), async_op)


class Works:
    """Several Works as one."""

    _group = None

    def __init__(self, works=()):
        self.works = list(works)

    def append(self, work) -> None:
        """One more.

        Args:
            work: a Work.
        """
        if work:
            self.works.append(work)

    def wait(self) -> None:
        """Waits for all of them."""
        for each in self.works:
            each.wait()
        self.works = []


@contextlib.contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """The collectives inside are begun, and all waited for at its end, or by its wait()."""
    found, works = _group_of(group), Works()
    if found is None:
        yield works
        return
    if found._coalescing is not None:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    found._coalescing = works
    try:
        yield works
    finally:
        found._coalescing = None
    if not async_ops:
        works.wait()
