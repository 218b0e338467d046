"""The allocator's segments and blocks, as torch's tools for memory read them."""

import pickle
from collections.abc import Iterator

from ._device import _cuda, device_count

__all__ = ["memory_snapshot"]


def memory_snapshot(mempool_id=None, include_traces=True) -> list[dict]:
    """The segments that the allocators of all virtual GPUs have reserved, and the blocks in them.

    Addresses are those of each device's simulated allocator, from 0: the bytes themselves lie in
    the host's memory, each tensor's at its own data_ptr().

    Args:
        mempool_id: the pool to look at; there is one, (0, 0).
        include_traces: without effect, as allocations are not recorded.

    Raises:
        NotImplementedError: on GPUs that are real: memory comes from the driver's pool, which does
            not tell of blocks. memory_stats() has its sums.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     [segment] = torch.cuda.memory_snapshot()
    ...     [(block["state"], block["size"]) for block in segment["blocks"]]
    [('active_allocated', 4096), ('inactive', 2093056)]
    """
    pool = (0, 0) if mempool_id is None else tuple(mempool_id)
    if not _cuda.is_initialized() or pool != (0, 0):
        return []
    return [segment for index in range(device_count()) for segment in _segments(index, pool)]


def _segments(index: int, pool: tuple[int, int]) -> Iterator[dict]:
    segments = _cuda.virtual_segments(index)
    if segments is None:
        raise NotImplementedError(
            f"memory_snapshot() of cuda:{index}: its memory comes from the driver's pool "
            "(cudaMallocAsync), which does not track individual blocks\nmemory_stats() has the "
            "sums; torch.cuda.virtual(...) makes GPUs whose blocks can be seen"
        )
    for blocks in segments:
        size, requested = (sum(block[i] for block in blocks) for i in (1, 2))
        taken = sum(block[1] for block in blocks if block[4])
        yield {
            "device": index,
            "address": blocks[0][0],
            "total_size": size,
            "allocated_size": taken,
            "active_size": taken,
            "requested_size": requested,
            "stream": 0,
            "segment_type": "small" if blocks[0][3] else "large",
            "segment_pool_id": pool,
            "is_expandable": False,
            "frames": [],
            "blocks": [
                {
                    "address": address,
                    "size": size,
                    "requested_size": requested,
                    "state": "active_allocated" if taken else "inactive",
                    "frames": [],
                }
                for address, size, requested, _, taken in blocks
            ],
        }


def _snapshot(device=None, augment_with_fx_traces=False) -> dict:
    """What torch's viewer of memory reads: `memory_snapshot`, without the history of allocations.

    Args:
        device: without effect, as in torch: all devices are in it.
        augment_with_fx_traces: without effect, as there are no traces.

    >>> with torch.cuda.virtual(1):
    ...     sorted(torch.cuda.memory._snapshot())
    ['allocator_settings', 'device_traces', 'external_annotations', 'segments']
    """
    return {
        "segments": memory_snapshot(),
        "device_traces": [[] for _ in range(device_count())],
        "allocator_settings": {},
        "external_annotations": [],
    }


def _dump_snapshot(filename="dump_snapshot.pickle", augment_with_fx_traces=False) -> None:
    """Writes `_snapshot` to a file, for the viewer at pytorch.org/memory_viz.

    Args:
        filename: its path.
        augment_with_fx_traces: without effect, as there are no traces.

    >>> with torch.cuda.virtual(1), tempfile.NamedTemporaryFile() as file:
    ...     torch.cuda.memory._dump_snapshot(file.name)
    """
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)


def _record_memory_history(enabled="all", *args, **kwargs) -> None:
    """Switches the history of allocations off, which it always is.

    Args:
        enabled: None or False; to record is not there.
        args, kwargs: as torch's.

    Raises:
        NotImplementedError: if allocations are to be recorded.

    >>> torch.cuda.memory._record_memory_history(enabled=None)
    """
    if enabled:
        raise NotImplementedError(
            f"_record_memory_history(enabled={enabled!r}): allocations are not recorded\n"
            "memory_snapshot() and _dump_snapshot() show the blocks there are, and memory_stats() "
            "counts what was allocated and freed"
        )
