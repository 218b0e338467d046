"""Buckets: flat tensors that hold the gradients of several parameters, and are reduced as one.

GradBucket is what communication hooks see of them.
"""

from __future__ import annotations

import rushlight

FIRST = 1 << 20  # bytes of the first bucket, so that sending begins early


class Bucket:
    """The gradients of some parameters of one dtype and device, one behind the other."""

    def __init__(self, parameters):
        first = parameters[0]
        self.sizes = [p.numel() for p in parameters]
        self.parameters = parameters
        self.buffer = rushlight.zeros(sum(self.sizes), dtype=first.dtype, device=first.device)
        self.views = self.views_of(self.buffer)
        self.missing, self.pending = len(parameters), None

    def views_of(self, flat):
        """The gradients in a flat tensor, in the shapes of the parameters."""
        parts = flat.view(-1).split(self.sizes)
        return [v.view(p.shape) for v, p in zip(parts, self.parameters, strict=True)]


def in_buckets(parameters, limits):
    """Lists of parameters of one dtype and device each, in the order given.

    A list is full with limits[0] bytes, the next with limits[1], and so on; the last limit counts
    for all that follow. None is no limit.
    """
    found, open_, bytes_ = [], {}, {}
    for each in parameters:
        key = each.dtype, each.device
        open_.setdefault(key, []).append(each)
        bytes_[key] = bytes_.get(key, 0) + each.nbytes
        limit = limits[min(len(found), len(limits) - 1)]
        if limit is not None and bytes_[key] >= limit:
            found.append(open_.pop(key))
            bytes_[key] = 0
    return [*found, *open_.values()]


class GradBucket:
    """The gradients that a communication hook of DistributedDataParallel is to reduce.

    They are not divided by the number of ranks yet.

    >>> ddp.register_comm_hook(None, lambda state, bucket: ...)  # doctest: +SKIP
    """

    def __init__(self, index, bucket, last):
        self._index, self._bucket, self._last = index, bucket, last
        self._buffer = bucket.buffer

    def index(self) -> int:
        """Which bucket it is; buckets are made anew after the first iteration."""
        return self._index

    def buffer(self):
        """The gradients as one flat tensor."""
        return self._buffer

    def set_buffer(self, buffer) -> None:
        """Puts another tensor in the place of buffer().

        Args:
            buffer: of as many elements.
        """
        if not isinstance(buffer, rushlight.Tensor) or buffer.numel() != self._buffer.numel():
            raise ValueError(
                f"set_buffer(): a tensor of {self._buffer.numel()} elements is needed, not "
                f"{getattr(buffer, 'shape', type(buffer).__name__)}"
            )
        self._buffer = buffer

    def gradients(self) -> list:
        """The gradient of each parameter, views of buffer()."""
        return self._bucket.views_of(self._buffer)

    def parameters(self) -> list:
        """The parameters whose gradients these are."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Whether it is the last one of this backward."""
        return self._last
