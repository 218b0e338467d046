"""DataLoader: its arguments and their checks. _utils/iterators.py has what iterates."""

import itertools
import math
import os
import warnings
from collections.abc import Callable
from typing import Any

from ._utils.collate import default_collate, default_convert
from ._utils.iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from ._utils.worker import DatasetKind as _DatasetKind
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "_BaseDataLoaderIter", "_DatasetKind", "get_worker_info"]

kMostWorkers = 10_000  # processes that no one means to start

_worker_init_fn_t = Callable[[int], None]
_collate_fn_t = Callable[[list], Any]


class _Endless(Sampler):
    """The sampler of a stream: it only counts samples."""

    def __iter__(self):
        return itertools.repeat(None)


class DataLoader:
    """Batches of a data set, in order or shuffled, read here or by worker processes.

    Args:
        dataset: map-style (`__getitem__`, `__len__`) or an IterableDataset.
        batch_size: samples in a batch; None gives single samples.
        shuffle: a new random order each epoch.
        sampler: gives indices instead of `shuffle`.
        batch_sampler: gives lists of indices, instead of the four arguments around.
        num_workers: worker processes; 0 reads in this one.
        collate_fn: makes a batch of a list of samples; `default_collate` if None.
        pin_memory: give batches in page-locked memory, where there is a GPU.
        drop_last: leave out a last batch that is smaller.
        timeout: seconds to wait for a batch of the workers; 0 waits without limit.
        worker_init_fn: called in each worker with its index, after seeding.
        multiprocessing_context: context or start method ("fork", "spawn") of the workers.
        generator: the Generator for shuffling and the workers' base seed.
        prefetch_factor: batches that each worker reads ahead; 2 if None.
        persistent_workers: keep the workers from one epoch to the next.
        pin_memory_device: ignored, as in torch.
        in_order: give batches in order, not as workers finish them.

    Raises:
        ValueError: arguments that exclude each other; the message names them.
        RuntimeError: while iterating, a worker ended (its pid and exit code are named) or the
            timeout passed. A worker's exception comes with its type and traceback.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5))
        >>> for (batch,) in torch.utils.data.DataLoader(data, batch_size=2):
        ...     print(batch)
        tensor([0, 1])
        tensor([2, 3])
        tensor([4])
    """

    _is_initialized = False

    def __class_getitem__(cls, item):
        return cls

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order

        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        batch_size, drop_last = _check_sampling(
            batch_size, shuffle, sampler, batch_sampler, drop_last
        )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)

        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if batch_sampler is not None else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._reported_length = None
        self._iterator = None
        self._is_initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        """The context that makes the workers; None is the default one."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            context = _check_context(context, self.num_workers)
        self._multiprocessing_context = context

    def __setattr__(self, name, value):
        if self._is_initialized and name in _fixed:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized\n"
                "Make a new DataLoader."
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._reported_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warn when there will be more workers than processors."""
        if hasattr(os, "sched_getaffinity"):
            processors, note = len(os.sched_getaffinity(0)), ""
        else:
            processors, note = os.cpu_count(), " (`cpuset` is not taken into account)"
        if not self.num_workers or (processors and self.num_workers <= processors):
            return
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. Our "
            f"suggested max number of worker in current system is {processors}{note}, which is "
            "smaller than what this DataLoader is going to create. Please be aware that excessive "
            "worker creation might get DataLoader running slow or even freeze, lower the worker "
            "number to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


_fixed = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if num_workers > kMostWorkers:
        raise ValueError(
            f"num_workers option should be at most {kMostWorkers}, got {num_workers}\n"
            "each is a process: a few for each core are as fast as loading gets"
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle, sampler, batch_sampler):
    start = "DataLoader with IterableDataset: expected unspecified"
    cure = "\nAn IterableDataset has no indices: it decides its own order."
    if shuffle not in {False, None}:
        raise ValueError(f"{start} shuffle option, but got shuffle={shuffle}{cure}")
    if sampler is not None:
        raise ValueError(f"{start} sampler option, but got sampler={sampler}{cure}")
    if batch_sampler is not None:
        raise ValueError(
            f"{start} batch_sampler option, but got batch_sampler={batch_sampler}{cure}"
        )


def _check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
        return None, False
    if batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
    return batch_size, drop_last


def _check_context(context, num_workers):
    import multiprocessing
    from multiprocessing.context import BaseContext

    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known!r}, but got multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )
    return context
