"""Collectives of any objects that pickle takes: lengths first, then bytes.

What peers of one job send is loaded with pickle, as in torch: it may run code.
"""

from __future__ import annotations

import pickle

import rushlight
from rushlight.distributed import _collectives, _point_to_point
from rushlight.distributed._checks import check_length, collective, peer
from rushlight.distributed._world import _group_of


def _bytes_of(value, device):
    return rushlight.frombuffer(bytearray(pickle.dumps(value)), dtype=rushlight.uint8).to(device)


def _value_of(data, length):
    return pickle.loads(bytes(data[: int(length)].cpu().numpy()))


def _device_of(group):
    found = _group_of(group)
    return "cpu" if found is None else found._object_device()


def _gathered(g, obj):
    """(the bytes of this rank's object, padded to the longest; the lengths of all ranks)."""
    device = g._object_device()
    data = _bytes_of(obj, device)
    lengths = rushlight.empty(g.size(), dtype=rushlight.int64, device=device)
    own = rushlight.tensor([data.numel()], device=device)
    _collectives.all_gather_into_tensor(lengths, own, g)
    longest = int(lengths.max())
    padded = rushlight.zeros(longest, dtype=rushlight.uint8, device=device)
    padded[: data.numel()] = data
    return padded, lengths


@collective()
def all_gather_object(object_list, obj, group=None):
    """Fills a list with the objects of all ranks.

    Args:
        object_list: a list with an entry for each rank.
        obj: this rank's, anything that pickle takes.
        group: the default group where it is None.

    >>> torch.distributed.all_gather_object(found, {"loss": 0.5})  # doctest: +SKIP
    """
    check_length("object_list", object_list, group)
    padded, lengths = _gathered(group, obj)
    every = rushlight.empty(
        group.size(), padded.numel(), dtype=rushlight.uint8, device=padded.device
    )
    _collectives.all_gather_into_tensor(every, padded, group)
    for i in range(group.size()):
        object_list[i] = _value_of(every[i], lengths[i])


@collective()
def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Fills a list on one rank with the objects of all ranks.

    Args:
        obj: this rank's, anything that pickle takes.
        object_gather_list: on `dst`, a list with an entry for each rank; elsewhere None.
        dst: the rank in the default group that gets them; 0 by default.
        group: the default group where it is None.
        group_dst: the rank in `group`, instead of dst.
    """
    root = peer(group, dst, group_dst, "dst", default=0)
    mine = group.rank() == root
    if mine != bool(object_gather_list):
        where = "be specified on" if mine else "NOT be specified on non-"
        raise ValueError(f"Argument ``gather_list`` must {where} destination rank.")
    if mine:
        check_length("object_gather_list", object_gather_list, group)
    padded, lengths = _gathered(group, obj)
    rows = [rushlight.empty_like(padded) for _ in range(group.size())] if mine else None
    _collectives.gather(padded, rows, group=group, group_dst=root)
    for i, row in enumerate(rows or ()):
        object_gather_list[i] = _value_of(row, lengths[i])


@collective()
def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Replaces the objects of a list on every rank by those of one rank.

    Args:
        object_list: of the same length on all ranks.
        src: the rank in the default group that gives them; 0 by default.
        group: the default group where it is None.
        device: where the bytes are sent from; the CPU, or with NCCL the current GPU, where it is
            None.
        group_src: the rank in `group`, instead of src.
    """
    root = peer(group, src, group_src, "src", default=0)
    mine = group.rank() == root
    device = group._object_device() if device is None else device
    parts = [_bytes_of(each, device) for each in object_list] if mine else []
    numbers = [p.numel() for p in parts] or [0] * len(object_list)
    lengths = rushlight.tensor(numbers, device=device)
    _collectives.broadcast(lengths, group=group, group_src=root)
    data = rushlight.cat(parts) if parts else rushlight.empty(
        int(lengths.sum()), dtype=rushlight.uint8, device=device
    )  # fmt: skip
    _collectives.broadcast(data, group=group, group_src=root)
    for i, part in enumerate(data.split(lengths.tolist()) if object_list else ()):
        if not mine:
            object_list[i] = _value_of(part, lengths[i])


@collective()
def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None
):
    """Gives each rank one object of a list of one rank.

    Args:
        scatter_object_output_list: a list; its first entry is replaced.
        scatter_object_input_list: on `src`, an object for each rank.
        src: the rank in the default group that gives them; 0 by default.
        group: the default group where it is None.
        group_src: the rank in `group`, instead of src.
    """
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    root = peer(group, src, group_src, "src", default=0)
    device, every = group._object_device(), [None] * group.size()
    if group.rank() == root:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        check_length("scatter_object_input_list", scatter_object_input_list, group)
        every = [_bytes_of(each, device) for each in scatter_object_input_list]
    numbers = [e.numel() if e is not None else 0 for e in every]
    lengths = rushlight.tensor(numbers, device=device)
    _collectives.broadcast(lengths, group=group, group_src=root)
    own = rushlight.zeros(int(lengths.max()), dtype=rushlight.uint8, device=device)
    rows = None
    if group.rank() == root:
        rows = [rushlight.zeros_like(own) for _ in every]
        for row, data in zip(rows, every, strict=True):
            row[: data.numel()] = data
    _collectives.scatter(own, rows, group=group, group_src=root)
    scatter_object_output_list[0] = _value_of(own, lengths[group.rank()])


def send_object_list(
    object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False
):
    """Sends the objects of a list to one rank.

    Args:
        object_list: what is sent.
        dst: the rank in the default group that gets it.
        group: the default group where it is None.
        device: where the bytes are sent from; the CPU, or with NCCL the current GPU, where it is
            None.
        group_dst: the rank in `group`, instead of dst.
        use_batch: accepted, not used.
    """
    device = _device_of(group) if device is None else device
    parts = [_bytes_of(each, device) for each in object_list]
    lengths = rushlight.tensor([part.numel() for part in parts], device=device)
    _point_to_point.send(lengths, dst, group, 0, group_dst)
    _point_to_point.send(rushlight.cat(parts), dst, group, 0, group_dst)


def recv_object_list(
    object_list, src=None, group=None, device=None, group_src=None, use_batch=False
):
    """Replaces the objects of a list by those that one rank sends; returns the rank.

    Args:
        object_list: of the length of what is sent.
        src: the rank in the default group that sends it.
        group: the default group where it is None.
        device: where the bytes are sent from; the CPU, or with NCCL the current GPU, where it is
            None.
        group_src: the rank in `group`, instead of src.
        use_batch: accepted, not used.
    """
    device = _device_of(group) if device is None else device
    lengths = rushlight.zeros(len(object_list), dtype=rushlight.int64, device=device)
    _point_to_point.recv(lengths, src, group, 0, group_src)
    data = rushlight.empty(int(lengths.sum()), dtype=rushlight.uint8, device=device)
    source = _point_to_point.recv(data, src, group, 0, group_src)
    for i, part in enumerate(data.split(lengths.tolist())):
        object_list[i] = _value_of(part, lengths[i])
    return source
