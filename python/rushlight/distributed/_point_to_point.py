"""send and recv. The n-th send with a tag from one rank to another is for the n-th recv with it."""

from __future__ import annotations

import contextlib
import functools
import zlib

from rushlight.distributed._any_source import LATE, Announcer, WorkOfAny
from rushlight.distributed._checks import check_tensor, collective, copy_back, flat, peer
from rushlight.distributed._work import Message, Work, of
from rushlight.distributed._world import _group_of


def _is_nccl(group, tensor):
    """Whether NCCL serves it, which has no tags and no receive from any rank."""
    return group._served[tensor.device.type] == "nccl"


def _message(g, tensor, source, destination, tag):
    """A send, if we are the source, or a receive."""
    sends = source == g.rank()
    other = "destination" if sends else "source"
    if source == destination:
        raise ValueError(
            f"Invalid {other} rank: {other} rank should not be the same as the rank of the "
            "current process."
        )
    data = flat(tensor)
    tag = 0 if _is_nccl(g, tensor) else int(tag)
    name = "send" if sends else "recv"
    call = Message(g, name, of(tensor), source, destination, tag, tensor.device)
    n = data.nbytes
    number = zlib.crc32(str(call).encode())
    if sends:
        part, finish = call.engine.submit("send", data, None, n, number, peer=destination), None
    else:
        part = call.engine.submit("receive", None, data, n, number, peer=source)
        finish = copy_back(tensor, data)
    return g._hold(Work(g, call, [part], finish, [tensor], g._ranks[source]), (data, tensor))


def _announce(work):
    """Has a send announced if it is not received soon."""
    group, call = work._group, work._call
    if _is_nccl(group, work._result[0]):
        return
    group._announcer = group._announcer or Announcer(group)
    group._announcer.watch(work._parts[0], call.way, call.number)


@collective("tensor")
def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begins to send a tensor; it may be written to when the Work has ended.

    Args:
        tensor: what is sent.
        dst: the rank in the default group that gets it.
        group: the default group where it is None.
        tag: recv gets messages of its tag alone.
        group_dst: the rank in `group`, instead of dst.

    Returns:
        A Work.
    """
    work = _message(group, tensor, group.rank(), peer(group, dst, group_dst, "dst"), tag)
    _announce(work)
    return work


@collective("tensor")
def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begins to receive a tensor; it is there when the Work has ended.

    Args:
        tensor: the result, of the shape and dtype of what is sent.
        src: the rank in the default group that sends it; None for any.
        group: the default group where it is None.
        tag: as of isend.
        group_src: the rank in `group`, instead of src.

    Returns:
        A Work.
    """
    if src is None and group_src is None:
        if _is_nccl(group, tensor):
            raise RuntimeError("Backend nccl does not support recvAnysource\nname the rank, src=")
        if group.size() == 1:
            raise ValueError("recv from any rank: there is no other rank in the group")
        begin = functools.partial(_message, group, tensor, destination=group.rank(), tag=tag)
        return WorkOfAny(group, int(tag), lambda source: begin(source=source))
    return _message(group, tensor, peer(group, src, group_src, "src"), group.rank(), tag)


@collective("tensor")
def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends a tensor, and waits until it is taken.

    Args: as of isend.
    """
    work = _message(group, tensor, group.rank(), peer(group, dst, group_dst, "dst"), tag)
    if not work._parts[0].wait(LATE):
        _announce(work)
    work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None) -> int:
    """Receives a tensor; returns the rank that sent it.

    Args: as of irecv.

    Returns:
        The sender's rank in the default group; -1 where this process is not in the group.
    """
    if (work := irecv(tensor, src, group, tag, group_src)) is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """One isend or irecv, for batch_isend_irecv.

    Args:
        op: torch.distributed.isend or irecv.
        tensor: what is sent or received.
        peer: the other rank in the default group.
        group: the default group where it is None.
        tag: as of isend.
        group_peer: the other rank in `group`, instead of peer.

    >>> torch.distributed.P2POp(torch.distributed.isend, torch.zeros(2), 1).tag
    0
    """

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group
        self.tag, self.group_peer = tag, group_peer


def batch_isend_irecv(p2p_op_list):
    """Begins several sends and receives; returns their Works.

    Args:
        p2p_op_list: a list of P2POp.
    """
    if isinstance(p2p_op_list, list) and not p2p_op_list:
        raise IndexError("list index out of range\nbatch_isend_irecv(): the list is empty")
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    first = p2p_op_list[0]
    group, device = _group_of(first.group), first.tensor.device
    served = group is not None and device.type in group._served  # else the calls say what is wrong
    with group._together(device) if served else contextlib.nullcontext():
        return [
            each.op(each.tensor, each.peer, each.group, each.tag, each.group_peer)
            for each in p2p_op_list
        ]


__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]
