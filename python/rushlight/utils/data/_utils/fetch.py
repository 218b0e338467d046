"""Fetchers: from the indices of a batch to the batch, in this process or in a worker.

A batch of indices is a list, or an int64 tensor when both samplers are this package's; only a data
set that can gather ever sees the tensor.
"""

import rushlight

from ..dataset import can_gather, plain_indices
from .collate import default_collate


class MapFetcher:
    """Reads batches of a map-style data set."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last=False):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.gathers = auto_collation and collate_fn is default_collate and can_gather(dataset)

    def fetch(self, indices):
        """The batch at `indices`: one gather where the data set can, else sample by sample."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[indices])
        if self.gathers:
            batch = self._gather(indices)
            if batch is not None:
                return batch
        if isinstance(indices, rushlight.Tensor):
            indices = indices.tolist()
        read_all = getattr(self.dataset, "__getitems__", None)
        if read_all:
            return self.collate_fn(read_all(indices))
        return self.collate_fn([self.dataset[index] for index in indices])

    def _gather(self, indices):
        if not isinstance(indices, rushlight.Tensor):
            # A custom sampler may give anything; what is no plain index goes the slow way,
            # which raises the data set's own error.
            indices = plain_indices(indices, self.dataset)
            if indices is None:
                return None
        return self.dataset.gather(indices)


class IterableFetcher:
    """Reads batches of a stream; StopIteration when it has ended."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last=False):
        self.stream = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, indices):
        """The next `len(indices)` samples as a batch; the last batch may be shorter."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.stream))
        samples = []
        for _ in indices:
            try:
                samples.append(next(self.stream))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(indices)):
            raise StopIteration
        return self.collate_fn(samples)
