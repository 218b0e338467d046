"""Placements: how a tensor lies over the ranks along one dimension of a mesh."""

from __future__ import annotations

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


def part(length, ranks, index):
    """(start, length) of one rank's part of a dimension."""
    each = -(-length // ranks)
    start = min(each * index, length)
    return start, min(each, length - start)


class Placement:
    """How a tensor lies over the ranks along one dimension of a mesh."""

    def is_shard(self, dim=None) -> bool:
        """Whether each rank has a part, of the dimension `dim` if it is given.

        Args:
            dim: a dimension of the tensor.
        """
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Whether each rank has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None) -> bool:
        """Whether the ranks' tensors are still to be reduced.

        Args:
            reduce_op: only by this reduction.
        """
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)

    def _key(self):
        return type(self), *vars(self).values()

    def __eq__(self, other):
        return isinstance(other, Placement) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())


class Shard(Placement):
    """Each rank has a part of one dimension, as torch.chunk cuts it.

    Args:
        dim: which dimension.

    >>> torch.distributed.tensor.Shard(0)
    Shard(dim=0)
    """

    def __init__(self, dim):
        if not isinstance(dim, int):
            raise TypeError(f"Shard(): dim must be an int, not {type(dim).__name__}")
        self.dim = dim

    @staticmethod
    def local_shard_size_and_offset(curr_local_size, num_chunks, rank):
        """(length, start) of a rank's part of a dimension.

        >>> torch.distributed.tensor.Shard.local_shard_size_and_offset(5, 2, 1)
        (2, 3)
        """
        start, length = part(curr_local_size, num_chunks, rank)
        return length, start

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    def __str__(self):
        return f"S({self.dim})"


class Replicate(Placement):
    """Each rank has all of it.

    >>> torch.distributed.tensor.Replicate()
    Replicate()
    """

    def __repr__(self):
        return "Replicate()"

    def __str__(self):
        return "R"


class Partial(Placement):
    """Each rank has a summand; the tensor is their reduction.

    Args:
        reduce_op: "sum", "avg", "max", "min" or "product".

    >>> torch.distributed.tensor.Partial()
    Partial(sum)
    """

    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
