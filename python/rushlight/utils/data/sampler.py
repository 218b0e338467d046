"""Samplers: the order in which a DataLoader reads a map-style data set.

The draws are torch's exactly: a RandomSampler without a generator takes one seed from
the default generator when its iteration begins, and permutes with a generator of its own.
"""

from itertools import islice

import rushlight


class Sampler:
    """Base class of what gives a DataLoader its indices: subclasses define `__iter__()`, often
    `__len__()`.

    Args:
        data_source: accepted for older programs; it is not kept.

    Example:
        >>> class Backwards(torch.utils.data.Sampler):
        ...     def __init__(self, size):
        ...         self.size = size
        ...     def __iter__(self):
        ...         return iter(range(self.size - 1, -1, -1))
        >>> loader = torch.utils.data.DataLoader(range(4), sampler=Backwards(4), batch_size=4)
        >>> next(iter(loader))
        tensor([3, 2, 1, 0])
    """

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, data_source=None):
        # Programs written for older versions pass their data source to super().__init__().
        pass

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} must give __iter__")


class SequentialSampler(Sampler):
    """0, 1, 2, ... up to the length of the data source.

    Args:
        data_source: anything with a length.

    Example:
        >>> list(torch.utils.data.SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices in random order, or drawn with replacement.

    Args:
        data_source: anything with a length.
        replacement: draw each index from all of them.
        num_samples: how many to draw; the length of the data source if None.
        generator: the Generator to draw from; if None, a new one seeded by one draw from the
            default generator.

    Raises:
        TypeError: `replacement` is no bool.
        ValueError: `num_samples` is no positive integer (also: the data source is empty).

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> sorted(torch.utils.data.RandomSampler("abcd", generator=generator))
        [0, 1, 2, 3]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            cure = "\nThe data source is empty." if num_samples is None else ""
            raise ValueError(
                "num_samples should be a positive integer value, "
                f"but got num_samples={self.num_samples}{cure}"
            )

    @property
    def num_samples(self):
        # The data source may grow between two epochs, so its length is read each time.
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def index_tensors(self):
        """The indices of one epoch as int64 tensors, drawn in torch's order."""
        size, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            seed = draw_seed()
            generator = rushlight.Generator()
            generator.manual_seed(seed)
        if self.replacement:
            for _ in range(wanted // 32):
                yield rushlight.randint(high=size, size=(32,), generator=generator)
            yield rushlight.randint(high=size, size=(wanted % 32,), generator=generator)
        else:
            for _ in range(wanted // size):
                yield rushlight.randperm(size, generator=generator)
            # Torch draws this last permutation even when nothing of it is used.
            yield rushlight.randperm(size, generator=generator)[: wanted % size]

    def __iter__(self):
        for indices in self.index_tensors():
            yield from indices.tolist()

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order.

    Args:
        indices: sequence of indices.
        generator: the Generator to draw from; the default one if None.

    Example:
        >>> sorted(torch.utils.data.SubsetRandomSampler([7, 9, 8]))
        [7, 8, 9]
    """

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in rushlight.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probability proportional to their weights.

    Args:
        weights: one weight an index, not necessarily summing to one.
        num_samples: how many to draw.
        replacement: whether an index may come more than once.
        generator: the Generator to draw from; the default one if None.

    Shape: weights (n).

    Raises:
        ValueError: `num_samples` no positive integer, `replacement` no bool, weights not flat.

    Example:
        >>> list(torch.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not _is_positive_int(num_samples):
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        weights = rushlight.as_tensor(weights, dtype=rushlight.float64)
        if weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given "
                f"weights have shape {tuple(weights.shape)}"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def index_tensors(self):
        """The indices of one epoch as an int64 tensor."""
        yield rushlight.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )

    def __iter__(self):
        for drawn in self.index_tensors():
            yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices from another sampler.

    Args:
        sampler: a Sampler or any iterable of indices.
        batch_size: indices in a list.
        drop_last: leave out a last list that is shorter.

    Raises:
        ValueError: `batch_size` no positive integer, `drop_last` no bool.

    Example:
        >>> list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        if not _is_positive_int(batch_size):
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def index_tensors(self):
        """The same lists as int64 tensors, for samplers of this module; None for any other."""
        if type(self) is not BatchSampler:  # one that may not even have these attributes
            return None
        sampler, size = self.sampler, self.batch_size
        if type(sampler) is SequentialSampler:
            return _split(iter([rushlight.arange(len(sampler))]), size, self.drop_last)
        if type(sampler) is WeightedRandomSampler and sampler.weights.is_cpu:
            return _split(sampler.index_tensors(), size, self.drop_last)
        if type(sampler) is RandomSampler and not sampler.replacement:
            if sampler._num_samples is None or sampler._num_samples == len(sampler.data_source):
                return _split(sampler.index_tensors(), size, self.drop_last)
        return None

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size


def _split(tensors, size, drop_last):
    for indices in tensors:
        count = len(indices)
        for start in range(0, count, size):
            if start + size > count:
                # A RandomSampler ends with an empty permutation whose draw moves the generator;
                # torch draws it while it looks for the rest of the short batch.
                for _ in tensors:
                    pass
                if drop_last:
                    return
            yield indices[start : start + size]


def _is_positive_int(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def draw_seed(generator=None):
    """One 63-bit draw, as DataLoader and RandomSampler take it for their seeds."""
    return int(rushlight.empty((), dtype=rushlight.int64).random_(generator=generator).item())
