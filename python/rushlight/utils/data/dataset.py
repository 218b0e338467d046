"""Map-style and iterable data sets, and the ones made of others.

A data set may offer `gather(indices)`: the whole collated batch in one go, or None when it
cannot. The DataLoader calls it only with the default collate function; torch has no such
thing, so a subclass that overrides `__getitem__` must lose it (see `can_gather`).
"""

import bisect
import math
import warnings
from abc import ABC, abstractmethod
from itertools import accumulate

import rushlight


class Dataset:
    """A map-style data set: subclasses give `__getitem__(index)` and usually `__len__()`.

    Args:
        none; a subclass takes what it needs.

    Raises:
        NotImplementedError: `__getitem__` was not overridden.

    Example:
        >>> class Squares(torch.utils.data.Dataset):
        ...     def __getitem__(self, index):
        ...         return index * index
        ...     def __len__(self):
        ...         return 5
        >>> Squares()[3]
        9
    """

    def __class_getitem__(cls, item):
        # `Dataset[int]` is an annotation; typing.Generic would cost its import.
        return cls

    def __getitem__(self, index):
        raise NotImplementedError(
            "Subclasses of Dataset should implement __getitem__.\n"
            f"{type(self).__name__} does not: give it `def __getitem__(self, index)` that returns "
            "one sample."
        )

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset, ABC):
    """A data set that is read as a stream: subclasses give `__iter__()`.

    With several workers each one iterates over its own copy; `get_worker_info()` tells it which
    share to read.

    Example:
        >>> class Count(torch.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(4))
        >>> [batch.tolist() for batch in torch.utils.data.DataLoader(Count(), batch_size=3)]
        [[0, 1, 2], [3]]
    """

    @abstractmethod
    def __iter__(self):
        """The samples, one after another."""

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are the rows of tensors: sample `i` is `(tensor[i] for each tensor)`.

    Args:
        *tensors: tensors of the same size in dimension 0.

    Shape: tensors (n, *); sample i is a tuple of (*).

    Raises:
        AssertionError: the tensors' first sizes differ.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(3), torch.arange(3) * 10)
        >>> data[1]
        (tensor(1), tensor(10))
    """

    def __init__(self, *tensors):
        lengths = [tensor.size(0) for tensor in tensors]
        if any(length != lengths[0] for length in lengths):
            raise AssertionError(
                "Size mismatch between tensors\n"
                f"Their sizes in dimension 0 are {lengths}; every tensor needs one row a sample."
            )
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)

    def gather(self, indices):
        """The rows `indices` (an int64 tensor) of every tensor, as one batch."""
        if any(type(tensor) is not rushlight.Tensor for tensor in self.tensors):
            return None
        return [
            tensor.index_select(0, indices if tensor.is_cpu else indices.to(tensor.device))
            for tensor in self.tensors
        ]

    gather.replaces = __getitem__  # type: ignore[attr-defined]


class StackDataset(Dataset):
    """Several data sets read side by side: a sample is a tuple (or dict) of their samples.

    Args:
        *args: data sets; samples are tuples.
        **kwargs: named data sets; samples are dicts.

    Shape: sample i holds sample i of each data set.

    Raises:
        ValueError: both forms, none, or data sets of different lengths.

    Example:
        >>> torch.utils.data.StackDataset(image=[1, 2], label=["a", "b"])[1]
        {'image': 2, 'label': 'b'}
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in (args or kwargs.values())]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets\nTheir lengths are {lengths}.")
        self._length = lengths[0]

    def _combine(self, read):
        if isinstance(self.datasets, dict):
            return {name: read(dataset) for name, dataset in self.datasets.items()}
        return tuple(read(dataset) for dataset in self.datasets)

    def __getitem__(self, index):
        return self._combine(lambda dataset: dataset[index])

    def __getitems__(self, indices):
        def read(dataset):
            items = _read_items(dataset, indices)
            if len(items) != len(indices):
                raise ValueError(
                    "Nested dataset's output size mismatch."
                    f" Expected {len(indices)}, got {len(items)}"
                )
            return items

        columns = self._combine(read)
        if isinstance(columns, dict):
            return [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
        return list(zip(*columns, strict=True))

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """Data sets one after another; `a + b` makes one.

    Args:
        datasets: map-style data sets, at least one.

    Raises:
        AssertionError: no data set, or an IterableDataset among them.

    Example:
        >>> both = torch.utils.data.ConcatDataset([[1, 2], [3, 4, 5]])
        >>> len(both), both[3], both[-1]
        (5, 4, 5)
    """

    @staticmethod
    def cumsum(sequence):
        """The sums of the lengths of the data sets in `sequence`, up to each."""
        return list(accumulate(len(part) for part in sequence))

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset\nUse ChainDataset for streams."
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        if part == len(self.datasets):
            raise IndexError(
                f"list index out of range\nindex {idx} of a ConcatDataset of {len(self)} samples"
            )
        start = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][idx - start]


class ChainDataset(IterableDataset):
    """Streams one after another.

    Args:
        datasets: iterable of IterableDatasets.

    Raises:
        AssertionError: one of them is not an IterableDataset (raised when it is reached).

    Example:
        >>> class Count(torch.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(Count() + Count())
        [0, 1, 0, 1]
    """

    def __init__(self, datasets):
        self.datasets = datasets

    def _streams(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    "ChainDataset only supports IterableDataset\n"
                    f"It was given a {type(dataset).__name__}."
                )
            yield dataset

    def __iter__(self):
        for dataset in self._streams():
            yield from dataset

    def __len__(self):
        return sum(len(dataset) for dataset in self._streams())


class Subset(Dataset):
    """The samples of a data set at given indices.

    Args:
        dataset: the whole data set.
        indices: sequence of indices into it.

    Raises:
        NotImplementedError: a subclass overrides `__getitem__` but not `__getitems__`.

    Example:
        >>> part = torch.utils.data.Subset("abcdef", [5, 0])
        >>> part[0], len(part)
        ('f', 2)
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. "
                "When subclassing Subset and overriding __getitem__, you must also override "
                "__getitems__ to ensure DataLoader works correctly with your custom logic. "
                "A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        return _read_items(self.dataset, [self.indices[index] for index in indices])

    def __len__(self):
        return len(self.indices)

    def gather(self, indices):
        """The batch of the whole set at the mapped indices, when that set can gather."""
        if not can_gather(self.dataset):
            return None
        mapped = self._mapped(indices)
        return None if mapped is None else self.dataset.gather(mapped)

    def _mapped(self, indices):
        """`self.indices[indices]` as a tensor of plain indices; None if some are not."""
        chosen = self.indices
        if _is_plain_array(chosen):  # as folds and splits of scikit-learn are
            chosen = rushlight.as_tensor(chosen)
        if type(chosen) is not rushlight.Tensor:
            return plain_indices([*map(chosen.__getitem__, indices.tolist())], self.dataset)
        if chosen.dim() != 1 or chosen.dtype != rushlight.int64 or not chosen.is_cpu:
            return None
        mapped = chosen.index_select(0, indices)
        inside = int(mapped.min()) >= 0 and int(mapped.max()) < len(self.dataset)
        return mapped if inside else None

    gather.replaces = __getitems__  # type: ignore[attr-defined]


def _read_items(dataset, indices):
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


def _is_plain_array(indices):
    if type(indices).__module__ != "numpy" or type(indices).__name__ != "ndarray":
        return False
    flags = indices.flags  # as_tensor would copy what is read only, and refuse a reversed one
    return indices.ndim == 1 and indices.dtype == "int64" and flags.c_contiguous and flags.writeable


def plain_indices(indices, dataset):
    """A list of ints that lie in the data set as an int64 tensor; None for any other list."""
    if {*map(type, indices)} != {int} or min(indices) < 0 or max(indices) >= len(dataset):
        return None
    return rushlight.tensor(indices, dtype=rushlight.int64)


def can_gather(dataset):
    """Whether `dataset.gather` agrees with its `__getitem__`, which no subclass overrides."""
    kind = type(dataset)
    replaced = getattr(getattr(kind, "gather", None), "replaces", None)
    if replaced is None or getattr(kind, replaced.__name__, None) is not replaced:
        return False
    if replaced.__name__ == "__getitem__" and hasattr(dataset, "__getitems__"):
        return False
    return not isinstance(dataset, Subset) or can_gather(dataset.dataset)


def random_split(dataset, lengths, generator=None):
    """Split a data set at random into parts that do not overlap.

    Args:
        dataset: a data set with a length.
        lengths: sizes that sum to `len(dataset)`, or fractions that sum to 1: part `i` then gets
            `floor(fraction * len(dataset))` samples, and what remains goes round from the first.
        generator: the Generator to draw from; the default one if None.

    Raises:
        ValueError: a fraction outside [0, 1], or sizes with another sum.

    Example:
        >>> generator = torch.Generator().manual_seed(42)
        >>> [len(p) for p in torch.utils.data.random_split(range(10), [0.7, 0.3], generator)]
        [7, 3]
    """
    total = len(dataset)
    lengths = list(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - sum(lengths)):
            lengths[i % len(lengths)] += 1
        for i, length in enumerate(lengths):
            if length == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.",
                    stacklevel=2,
                )
    if sum(lengths) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset!\n"
            f"lengths {lengths} sum to {sum(lengths)}, the data set has {total} samples."
        )
    order = rushlight.randperm(total, generator=generator).tolist()
    return [
        Subset(dataset, order[end - length : end])
        for end, length in zip(accumulate(lengths), lengths, strict=True)
    ]
