"""Which rank writes what, and what a rank reads.

Every rank sees what all have and decides alike. A part of a DTensor is written by the first rank
that has it; what several ranks have whole, by the one with the fewest bytes so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import rushlight
from rushlight import _C
from rushlight.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from rushlight.distributed.tensor import DTensor
from rushlight.distributed.tensor.placement_types import part


def flattened(state):
    """({path joined by dots: value}, {the same: path}) of nested dicts and lists."""
    values, paths = {}, {}

    def visit(value, path):
        if isinstance(value, dict) and (value or not path):
            for key, each in value.items():
                visit(each, (*path, str(key)))
        elif isinstance(value, list) and any(_is_inner(each) for each in value):
            for i, each in enumerate(value):
                visit(each, (*path, i))
        else:
            name = ".".join(map(str, path))
            if name in values:
                raise ValueError(f"duplicate key {name!r} in the state dictionary")
            values[name], paths[name] = value, path

    visit(state, ())
    return values, paths


def _is_inner(value):
    if isinstance(value, list):
        return any(_is_inner(each) for each in value)
    return isinstance(value, dict | _C.Tensor)


def put(state, path, value):
    """Replaces the value at a path of nested dicts and lists."""
    for key in path[:-1]:
        state = state[_key(state, key)]
    state[_key(state, path[-1])] = value


def _key(state, key):
    """Keys that were no text are found by their text."""
    if isinstance(state, list) or key in state:
        return key
    return next(k for k in state if str(k) == key)


@dataclass
class Item:
    """A tensor's part, or an object, that a rank has."""

    name: str
    offsets: tuple | None = None  # None of an object
    sizes: tuple = ()
    shape: tuple = ()
    dtype: str = ""
    requires_grad: bool = False
    nbytes: int = 0

    @property
    def key(self):
        return self.name, self.offsets

    @property
    def index(self):
        at = None if self.offsets is None else _C.Size(self.offsets)
        return MetadataIndex(self.name, at)


def own_part(tensor):
    """(offsets, sizes) of this rank's part of a DTensor; None where it has none."""
    offsets, sizes = [0] * tensor.dim(), list(tensor.shape)
    at = tensor.device_mesh.get_coordinate()
    if at is None:
        return None
    for i, placement in enumerate(tensor.placements):
        if placement.is_partial():
            raise ValueError("a DTensor with Partial() cannot be saved: redistribute() it first")
        if placement.is_shard():
            dim = placement.dim
            start, length = part(sizes[dim], tensor.device_mesh.size(i), at[i])
            offsets[dim] += start
            sizes[dim] = length
    return (tuple(offsets), tuple(sizes)) if 0 not in sizes or tensor.numel() == 0 else None


def items_of(values):
    """What this rank has."""
    found = []
    for name, value in values.items():
        if not isinstance(value, _C.Tensor):
            found.append(Item(name))
            continue
        where = (0,) * value.dim(), tuple(value.shape)
        if isinstance(value, DTensor):
            where = own_part(value)
        if where is not None:
            count = rushlight.Size(where[1]).numel()
            dtype = str(value.dtype).rpartition(".")[2]
            found.append(Item(name, *where, tuple(value.shape), dtype, value.requires_grad,
                              count * value.element_size()))  # fmt: skip
    return found


def assigned(every):
    """For each rank the keys of what it writes."""
    holders, sizes = {}, {}
    for rank, items in enumerate(every):
        for each in items:
            holders.setdefault(each.key, []).append(rank)
            sizes[each.key] = each.nbytes
    load, found = [0] * len(every), [set() for _ in every]
    for key, ranks in holders.items():
        writer = min(ranks, key=lambda rank: load[rank])
        load[writer] += sizes[key]
        found[writer].add(key)
    return found


def metadata_of(every, paths):
    """The Metadata of what all ranks have, without the files."""
    entries = {}
    for each in (item for items in every for item in items):
        if each.offsets is None:
            entries.setdefault(each.name, BytesStorageMetadata())
            continue
        entry = entries.get(each.name)
        if entry is None:
            properties = TensorProperties(
                dtype=getattr(rushlight, each.dtype), requires_grad=each.requires_grad
            )
            entry = TensorStorageMetadata(properties, _C.Size(each.shape), [])
            entries[each.name] = entry
        if not isinstance(entry, TensorStorageMetadata) or tuple(entry.size) != each.shape:
            raise ValueError(f"{each.name} differs between the ranks: {entry} and {each}")
        chunk = ChunkStorageMetadata(_C.Size(each.offsets), _C.Size(each.sizes))
        if chunk not in entry.chunks:
            entry.chunks.append(chunk)
    return Metadata(entries, paths, {}, None, "1.0.0")


def indexed(metadata, index):
    """The index with the number of its part, as torch writes it."""
    if index.offset is None:
        return index
    chunks = metadata.state_dict_metadata[index.fqn].chunks
    number = next(i for i, c in enumerate(chunks) if c.offsets == index.offset)
    return MetadataIndex(index.fqn, index.offset, number)


def overlap(offsets, sizes, chunk):
    """(slices of the wanted part, slices of the chunk) of what both have; None if nothing."""
    into, out = [], []
    for at, length, start, count in zip(offsets, sizes, chunk.offsets, chunk.sizes, strict=True):
        first, last = max(at, start), min(at + length, start + count)
        if first >= last:
            return None
        into.append(slice(first - at, last - at))
        out.append(slice(first - start, last - start))
    return tuple(into), tuple(out)
