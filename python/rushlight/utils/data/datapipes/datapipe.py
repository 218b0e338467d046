"""The base classes of data pipes, which are data sets."""

from ..dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "IterDataPipe", "MapDataPipe"]


class IterDataPipe(IterableDataset):
    """An IterableDataset by its name as a data pipe: a class of a program defines __iter__().

    >>> class Count(torch.utils.data.IterDataPipe):
    ...     def __iter__(self):
    ...         yield from range(3)
    >>> list(Count())
    [0, 1, 2]
    """

    def reset(self):
        """Nothing: an iterator begins anew by itself."""


class DFIterDataPipe(IterDataPipe):
    """An IterDataPipe of data frames.

    >>> issubclass(torch.utils.data.DFIterDataPipe, torch.utils.data.IterableDataset)
    True
    """


class MapDataPipe(Dataset):
    """A Dataset by its name as a data pipe: a class of a program defines __getitem__().

    >>> class Squares(torch.utils.data.MapDataPipe):
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> Squares()[3]
    9
    """
